// The tasks name the pointer, each its own copy of it, instead of what it points to.
// expect: race on int, lines 14 and 14
// threads: 1 2 4 16
#include <stdlib.h>

int main(void) {
  int *cell = calloc(1, sizeof *cell);
  int *names[8];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; i++) {
    names[i] = cell;
#pragma omp task depend(inout : names[i])
    ++*cell;
  }
  free(cell);
}
