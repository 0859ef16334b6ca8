// Each iteration has memory from the runtime.
// expect: no race
#include <omp.h>
#include <stdlib.h>
int out[1000];
int main(void) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int i = 0; i < 1000; i++) {
    int *b = omp_alloc(64 * sizeof(int), omp_default_mem_alloc);
    for (int k = 0; k < 64; k++) b[k] = i + k;
    out[i] = b[63];
    omp_free(b, omp_default_mem_alloc);
  }
  return out[5] != 68;
}
