// One thread allocates a block for all, and frees it after a barrier.
// expect: no race
#include <omp.h>
#include <stdlib.h>

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int *block;
#pragma omp single copyprivate(block)
    block = calloc(16, sizeof *block);
    int me = omp_get_thread_num();
    block[me] = me;
    wrong += block[me] != me;
#pragma omp barrier
#pragma omp master
    free(block);
  }
  return wrong;
}
