// loops: a stencil, two barriers a step.
#include <stdio.h>

enum { N = 600, STEPS = 20 };
static double a[N][N], b[N][N];

int main(void) {
  for (int i = 0; i < N; i++) a[i][0] = b[i][0] = i;
  #pragma omp parallel
  for (int step = 0; step < STEPS; step++) {
    #pragma omp for
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
    #pragma omp for
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];
  }
  printf("%g\n", a[N / 2][1]);
}
