// A pipeline of tasks: read a block, compress it, add up its size. One `depend` is missing.
#include <stdio.h>

enum { BLOCKS = 4 };
static int block[BLOCKS], packed[BLOCKS], total;

int main(void) {
  #pragma omp parallel
  #pragma omp single
  for (int i = 0; i < BLOCKS; i++) {
    #pragma omp task depend(out : block[i])
    block[i] = 10 * i;
    #pragma omp task depend(in : block[i])
    packed[i] = block[i] / 2;
    #pragma omp task depend(inout : total)
    total += packed[i];
  }
  printf("%d\n", total);
  return 0;
}
