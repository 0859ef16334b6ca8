// A static object in a function is made once, and waited for; then it is only read.
// expect: no race
#include <vector>

const std::vector<int> &table() {
  static const std::vector<int> list{1, 2, 3};
  return list;
}

int main() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 90; i++) {
    sum += table()[i % 3];
  }
  return sum != 180;
}
