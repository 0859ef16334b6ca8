// A task owns what it was given, and frees it.
// expect: no race
// threads: 1 2 4 16
#include <memory>

int sum[20];

int main() {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
    int *raw = std::make_unique<int>(i).release();
#pragma omp task firstprivate(raw)
    {
      std::unique_ptr<int> mine(raw);
      sum[i] = *mine;
    }
  }
  return sum[19] != 19;
}
