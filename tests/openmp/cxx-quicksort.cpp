// Quicksort by tasks on parts that do not overlap.
// expect: no race
// threads: 1 2 4 16
#include <algorithm>
#include <vector>

void sort(int *from, int *to) {
  if (to - from < 2) {
    return;
  }
  int pivot = from[(to - from) / 2];
  int *middle = std::partition(from, to, [=](int x) { return x < pivot; });
  int *above = std::partition(middle, to, [=](int x) { return x == pivot; });
#pragma omp task
  sort(from, middle);
#pragma omp task
  sort(above, to);
}

int main() {
  std::vector<int> data(300);
  for (int i = 0; i < 300; i++) {
    data[i] = i * 7919 % 300;
  }
#pragma omp parallel
#pragma omp single
  sort(data.data(), data.data() + 300);
  return !std::is_sorted(data.begin(), data.end());
}
