// loops: a sparse matrix times a vector, rows handed out dynamically.
#include <stdio.h>

enum { N = 20000, ROW = 30, ROUNDS = 10 };
static int column[N][ROW];
static double value[N][ROW], x[N], y[N];

int main(void) {
  unsigned seed = 1;
  for (int i = 0; i < N; i++) {
    x[i] = i % 7;
    for (int k = 0; k < ROW; k++) {
      column[i][k] = (seed = seed * 1103515245 + 12345) % N;
      value[i][k] = k;
    }
  }
  for (int round = 0; round < ROUNDS; round++) {
    #pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < ROW; k++) sum += value[i][k] * x[column[i][k]];
      y[i] = sum;
    }
  }
  printf("%g\n", y[N / 2]);
}
