// Each task has memory from the runtime, which hands out the same again and again.
// expect: no race
#include <omp.h>
int out[300];
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 300; i++) {
#pragma omp task firstprivate(i)
    {
      int *b = omp_alloc(16 * sizeof(int), omp_thread_mem_alloc);
      for (int k = 0; k < 16; k++) b[k] = i;
      out[i] = b[15];
      omp_free(b, omp_thread_mem_alloc);
    }
  }
  return out[5] != 5;
}
