// After a loop without a barrier, every thread reads the whole array.
// expect: race on data, lines 12 and 15
int data[100], sum[16];

#include <omp.h>

int main(void) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
    for (int i = 0; i < 100; i++) {
      sum[omp_get_thread_num()] += data[i];
    }
  }
}
