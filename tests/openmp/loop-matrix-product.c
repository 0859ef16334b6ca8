// Rows of a product of matrices.
// expect: no race
enum { N = 16 };
double a[N][N], b[N][N], c[N][N];

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i][i] = b[i][i] = 2;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return c[3][3] != 4;
}
