// A region inside of a lambda divides a loop over what it captures.
// expect: no race
#include <vector>

int main() {
  std::vector<int> data(100);
  auto fill = [&](int value) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
      data[i] += value;
    }
  };
  fill(1);
  fill(2);
  return data[99] != 3;
}
