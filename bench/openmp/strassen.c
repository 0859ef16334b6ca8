// tasks: matrices multiplied by seven tasks a level.
#include <stdio.h>
#include <stdlib.h>

enum { N = 256, LEAF = 32 };
typedef struct {
  double *at;
  int stride;
} Matrix;

static double *cell(Matrix m, int i, int j) { return m.at + i * m.stride + j; }
static Matrix part(Matrix m, int i, int j, int n) { return (Matrix){cell(m, i * n, j * n), m.stride}; }
static Matrix fresh(int n) { return (Matrix){malloc(sizeof(double) * n * n), n}; }

static void sum(Matrix to, Matrix a, Matrix b, double sign, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) *cell(to, i, j) = *cell(a, i, j) + sign * *cell(b, i, j);
}

static void multiply(Matrix c, Matrix a, Matrix b, int n) {
  if (n <= LEAF) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) *cell(c, i, j) = 0;
      for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) *cell(c, i, j) += *cell(a, i, k) * *cell(b, k, j);
    }
    return;
  }
  // Product p is of the sum of two parts of a (row, column, sign) and of two parts of b.
  static const int A[7][5] = {{0, 0, 1, 1, 1}, {1, 0, 1, 1, 1}, {0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}, {1, 0, 0, 0, -1}, {0, 1, 1, 1, -1}};
  static const int B[7][5] = {{0, 0, 1, 1, 1}, {0, 0, 0, 0, 0}, {0, 1, 1, 1, -1}, {1, 0, 0, 0, -1}, {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}, {1, 0, 1, 1, 1}};
  int h = n / 2;
  Matrix product[7];
  for (int p = 0; p < 7; p++) {
    product[p] = fresh(h);
    #pragma omp task firstprivate(p) shared(product)
    {
      Matrix left = fresh(h), right = fresh(h);
      sum(left, part(a, A[p][0], A[p][1], h), part(a, A[p][2], A[p][3], h), A[p][4], h);
      sum(right, part(b, B[p][0], B[p][1], h), part(b, B[p][2], B[p][3], h), B[p][4], h);
      multiply(product[p], left, right, h);
      free(left.at);
      free(right.at);
    }
  }
  #pragma omp taskwait
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++) {
      double m[7];
      for (int p = 0; p < 7; p++) m[p] = *cell(product[p], i, j);
      *cell(c, i, j) = m[0] + m[3] - m[4] + m[6];
      *cell(c, i, j + h) = m[2] + m[4];
      *cell(c, i + h, j) = m[1] + m[3];
      *cell(c, i + h, j + h) = m[0] - m[1] + m[2] + m[5];
    }
  for (int p = 0; p < 7; p++) free(product[p].at);
}

int main(void) {
  Matrix a = fresh(N), b = fresh(N), c = fresh(N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      *cell(a, i, j) = (i * 3 + j) % 7;
      *cell(b, i, j) = (i + j * 5) % 11;
    }
  #pragma omp parallel
  #pragma omp single
  multiply(c, a, b, N);
  for (int i = 0; i < N; i += 37)
    for (int j = 0; j < N; j += 41) {
      double expected = 0;
      for (int k = 0; k < N; k++) expected += *cell(a, i, k) * *cell(b, k, j);
      if (*cell(c, i, j) != expected) return 1;
    }
  printf("multiplied\n");
}
