// Each iteration allocates and frees a block.
// expect: no race
#include <stdlib.h>

int data[200];

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 200; i++) {
    int *block = malloc(8 * sizeof *block);
    block[i % 8] = i;
    data[i] = block[i % 8];
    free(block);
  }
  return data[199] != 199;
}
