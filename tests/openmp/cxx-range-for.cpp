// A range-based loop is divided.
// expect: no race
#include <vector>

int main() {
  std::vector<int> data(200, 1);
#pragma omp parallel for
  for (int &element : data) {
    element *= 3;
  }
  return data[199] != 3;
}
