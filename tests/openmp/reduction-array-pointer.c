// A reduction of a block on the heap.
// expect: no race
#include <stdlib.h>

int main(void) {
  int *bin = calloc(8, sizeof *bin);
#pragma omp parallel for reduction(+ : bin[0 : 8]) schedule(dynamic, 10)
  for (int i = 0; i < 1000; i++) {
    bin[i * 7 % 8]++;
  }
  int right = bin[0] == 125;
  free(bin);
  return !right;
}
