// The creator frees a block that its task may still use.
// expect: race on *, lines 16 and 22
// threads: 1 2 4 16
#include <stdlib.h>

int seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    int *block = calloc(4, sizeof *block);
    int *arrived = calloc(1, sizeof *arrived);
#pragma omp task
    {
      seen = block[2];
      __atomic_store_n(arrived, 1, __ATOMIC_RELAXED);
    }
    while (!__atomic_load_n(arrived, __ATOMIC_RELAXED)) {
#pragma omp taskyield
    }
    free(block);
#pragma omp taskwait
    free(arrived);
  }
}
