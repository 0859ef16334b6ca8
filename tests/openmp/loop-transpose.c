// A matrix is transposed in place; each pair is swapped once.
// expect: no race
enum { N = 32 };
int data[N][N];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      int old = data[i][j];
      data[i][j] = data[j][i];
      data[j][i] = old;
    }
  }
  return data[0][0];
}
