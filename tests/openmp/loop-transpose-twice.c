// A matrix is transposed in place; each pair is written from both sides.
// expect: race on data, lines 10 and 10
enum { N = 32 };
int data[N][N];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      data[i][j] = data[j][i] + 1;
    }
  }
}
