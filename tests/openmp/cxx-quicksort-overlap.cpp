// The two parts that tasks work on have one element in common.
// expect: race on *, lines 8 and 8
// threads: 1 2 4 16
#include <vector>

void fill(int *from, int *to, int depth) {
  if (depth == 0) {
    *from = *(to - 1) = 1;
    return;
  }
  int *middle = from + (to - from) / 2;
#pragma omp task
  fill(from, middle + 1, depth - 1);
#pragma omp task
  fill(middle, to, depth - 1);
}

int main() {
  std::vector<int> data(64);
#pragma omp parallel
#pragma omp single
  fill(data.data(), data.data() + 64, 2);
}
