// loops: long arrays, touched once in each region.
#include <stdio.h>

enum { N = 2000000 };
static double a[N], b[N], c[N];

int main(void) {
  double sum = 0;
  for (int round = 0; round < 5; round++) {
    #pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = i, b[i] = 2.0 * i;
    #pragma omp parallel for
    for (int i = 0; i < N; i++) c[i] = a[i] + 3 * b[i];
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += c[i];
  }
  printf("%g\n", sum);
}
