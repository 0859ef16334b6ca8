// A loop over iterators is divided.
// expect: no race
#include <vector>

int main() {
  std::vector<int> data(200, 1);
#pragma omp parallel for
  for (std::vector<int>::iterator it = data.begin(); it < data.end(); ++it) {
    *it += 1;
  }
  return data[199] != 2;
}
