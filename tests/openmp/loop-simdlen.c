// A loop of vectors that are wider than any access that clang tells of.
// expect: race on a, lines 11 and 14
#include <stdio.h>

double a[1024];

int main(void) {
#pragma omp parallel
  {
#pragma omp for simd simdlen(8) schedule(static) nowait
    for (int i = 0; i < 1024; i++) a[i] = i;
#pragma omp for simd simdlen(8) schedule(static)
    for (int i = 0; i < 1024; i++)
      a[1023 - i] += 1;
  }
  printf("%g\n", a[1]);
}
