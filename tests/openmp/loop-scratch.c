// Each thread allocates a buffer inside the region, and uses it for all iterations that it gets.
// expect: no race
#include <stdlib.h>

int data[200];

int main(void) {
#pragma omp parallel
  {
    int *scratch = malloc(10 * sizeof *scratch);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 200; i++) {
      for (int k = 0; k < 10; k++) {
        scratch[k] = i;
      }
      data[i] = scratch[i % 10];
    }
    free(scratch);
  }
  return data[199] != 199;
}
