// Each task allocates, uses and frees a block: that another task gets the same memory is no race.
// expect: no race
// threads: 1 2 4 16
#include <stdlib.h>

int result[100];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++) {
#pragma omp task
    {
      int *block = malloc(16 * sizeof *block);
      for (int k = 0; k < 16; k++) {
        block[k] = i;
      }
      result[i] = block[i % 16];
      free(block);
    }
  }
  return result[99] != 99;
}
