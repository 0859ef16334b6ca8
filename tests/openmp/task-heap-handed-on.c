// One task allocates a block, the next one that depends on it uses and frees it.
// expect: no race
// threads: 1 2 4 16
#include <stdlib.h>

int *block[20], sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task depend(out : block[i])
    {
      block[i] = malloc(sizeof(int));
      *block[i] = i;
    }
#pragma omp task depend(in : block[i]) depend(inout : sum)
    {
      sum += *block[i];
      free(block[i]);
    }
  }
  return sum != 190;
}
