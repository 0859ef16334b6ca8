// Tasks count in their thread's element of an array, and in a block of the heap, by the number of their thread.
// expect: no race
// threads: 1 2 4 16
#include <omp.h>
#include <stdlib.h>

int counters[64];

int main(void) {
  long *sums = calloc(64, sizeof *sums);
#pragma omp parallel
#pragma omp single
  {
    counters[omp_get_thread_num()]++;
    for (int i = 0; i < 200; i++) {
#pragma omp task
      {
        int me = omp_get_thread_num();
        counters[me]++;
        sums[me] += i;
      }
    }
    counters[omp_get_thread_num()]++;
  }
  long sum = 0, count = 0;
  for (int i = 0; i < 64; i++) {
    sum += sums[i];
    count += counters[i];
  }
  free(sums);
  return sum != 19900 || count != 202;
}
