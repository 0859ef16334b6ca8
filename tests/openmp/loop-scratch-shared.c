// One buffer is allocated before the region, and used by all iterations.
// expect: race on int[0], lines 11 and 11
#include <stdlib.h>

int data[200];

int main(void) {
  int *scratch = malloc(10 * sizeof *scratch);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 200; i++) {
    scratch[i % 10] = i;
    data[i] = i;
  }
  free(scratch);
}
