// A range-based loop is divided; its iterations add to one sum.
// expect: race on sum, lines 11 and 11
#include <vector>

int sum;

int main() {
  std::vector<int> data(200, 1);
#pragma omp parallel for
  for (int element : data) {
    sum += element;
  }
}
