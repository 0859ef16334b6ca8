// Rows of a sparse matrix times a vector.
// expect: no race
enum { N = 100 };
int first[N + 1], column[3 * N];
double value[3 * N], x[N], y[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    first[i + 1] = 3 * (i + 1);
    for (int k = 0; k < 3; k++) {
      column[3 * i + k] = (i + 17 * k) % N;
      value[3 * i + k] = 1;
    }
    x[i] = 1;
  }
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < N; i++) {
    for (int k = first[i]; k < first[i + 1]; k++) {
      y[i] += value[k] * x[column[k]];
    }
  }
  return y[50] != 3;
}
