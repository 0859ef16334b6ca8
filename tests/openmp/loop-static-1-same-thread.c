// Iterations are dealt out in turn; each needs the last one that the same thread had.
// expect: no race
#include <omp.h>

int data[600];

int main(void) {
#pragma omp parallel
  {
    int step = omp_get_num_threads();
#pragma omp for schedule(static, 1)
    for (int i = 100; i < 600; i++) {
      data[i] = data[i - step] + 1;
    }
  }
  return data[100] != 1;
}
