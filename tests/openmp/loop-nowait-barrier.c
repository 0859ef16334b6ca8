// After a loop without a barrier of its own, an explicit one.
// expect: no race
#include <omp.h>

int data[100], sum[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
#pragma omp barrier
    for (int i = 0; i < 100; i++) {
      sum[omp_get_thread_num()] += data[i];
    }
  }
  return sum[0] != 4950;
}
