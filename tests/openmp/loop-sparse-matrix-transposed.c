// Columns of a sparse matrix times a vector: several columns add to one element of the result.
// expect: race on y, lines 10 and 10
enum { N = 96 };
double x[N], y[N];

int main(void) {
#pragma omp parallel for
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < 3; k++) {
      y[(j + 32 * k) % N] += x[j];
    }
  }
}
