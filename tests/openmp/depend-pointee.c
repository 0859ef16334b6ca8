// The tasks name what the pointer points to.
// expect: no race
// threads: 1 2 4 16
#include <stdlib.h>

int main(void) {
  int *cell = calloc(1, sizeof *cell);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; i++) {
#pragma omp task depend(inout : cell[0])
    ++*cell;
  }
  int right = *cell == 8;
  free(cell);
  return !right;
}
