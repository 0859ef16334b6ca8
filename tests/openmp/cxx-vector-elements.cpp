// Iterations write to different elements of a vector.
// expect: no race
#include <vector>

int main() {
  std::vector<int> data(500);
#pragma omp parallel for
  for (std::size_t i = 0; i < data.size(); i++) {
    data[i] = i;
  }
  return data[499] != 499;
}
