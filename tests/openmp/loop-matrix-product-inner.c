// The terms of each element of a product of matrices are divided among threads.
// expect: race on c, lines 11 and 11
enum { N = 16 };
double a[N][N], b[N][N], c[N][N];

int main(void) {
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}
