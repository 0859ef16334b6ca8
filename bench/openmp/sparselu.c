// tasks: LU decomposition of a blocked matrix, ordered by taskwait after each stage.
#include <stdio.h>
#ifdef DEPEND
#define STAGE
#define ON(clause) clause
#else
#define STAGE _Pragma("omp taskwait")
#define ON(clause)
#endif

enum { B = 12, N = 24 };
static double a[B][B][N][N];

static void lu0(double d[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      d[i][k] /= d[k][k];
      for (int j = k + 1; j < N; j++) d[i][j] -= d[i][k] * d[k][j];
    }
}
static void fwd(double d[N][N], double c[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++)
      for (int j = 0; j < N; j++) c[i][j] -= d[i][k] * c[k][j];
}
static void bdiv(double d[N][N], double r[N][N]) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      r[i][k] /= d[k][k];
      for (int j = k + 1; j < N; j++) r[i][j] -= r[i][k] * d[k][j];
    }
}
static void bmod(double r[N][N], double c[N][N], double x[N][N]) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) x[i][j] -= r[i][k] * c[k][j];
}

int main(void) {
  for (int i = 0; i < B; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < N; k++)
        for (int l = 0; l < N; l++) a[i][j][k][l] = i == j && k == l ? 1000 : (i * 7 + j * 3 + k + l) % 10;
  #pragma omp parallel
  #pragma omp single
  for (int k = 0; k < B; k++) {
    #pragma omp task ON(depend(inout : a[k][k]))
    lu0(a[k][k]);
    STAGE
    for (int j = k + 1; j < B; j++) {
      #pragma omp task ON(depend(in : a[k][k]) depend(inout : a[k][j]))
      fwd(a[k][k], a[k][j]);
      #pragma omp task ON(depend(in : a[k][k]) depend(inout : a[j][k]))
      bdiv(a[k][k], a[j][k]);
    }
    STAGE
    for (int i = k + 1; i < B; i++)
      for (int j = k + 1; j < B; j++) {
        #pragma omp task ON(depend(in : a[i][k], a[k][j]) depend(inout : a[i][j]))
        bmod(a[i][k], a[k][j], a[i][j]);
      }
    STAGE
  }
  printf("%g\n", a[B - 1][B - 1][N - 1][N - 1]);
}
