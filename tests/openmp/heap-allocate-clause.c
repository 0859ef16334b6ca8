// Private variables that the runtime allocates.
// expect: no race
#include <omp.h>
int out[400];
int main(void) {
  int t[8];
#pragma omp parallel for private(t) allocate(omp_default_mem_alloc : t) schedule(dynamic)
  for (int i = 0; i < 400; i++) {
    for (int k = 0; k < 8; k++) t[k] = i;
    out[i] = t[7];
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++)
#pragma omp task private(t) allocate(omp_default_mem_alloc : t)
  {
    for (int k = 0; k < 8; k++) t[k] = i;
    out[i] += t[7];
  }
  return out[3] != 6;
}
