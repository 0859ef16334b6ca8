// A reduction of a part of a block; the iterations also count in an element outside of that part.
// expect: race on int[7], lines 11 and 11
#include <stdlib.h>

int main(void) {
  int *bin = calloc(8, sizeof *bin);
  int *last = bin + 7;
#pragma omp parallel for reduction(+ : bin[0 : 7])
  for (int i = 0; i < 1000; i++) {
    bin[i % 7]++;
    ++*last;
  }
  free(bin);
}
