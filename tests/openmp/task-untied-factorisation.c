// An untied task creates many untied tasks and waits for them, again and again, as a sparse factorisation does.
// expect: no race
enum { SIZE = 12 };
static int block[SIZE][SIZE];
int main(void) {
#pragma omp parallel
#pragma omp single nowait
#pragma omp task untied
  {
    for (int k = 0; k < SIZE; k++) {
      block[k][k]++;
      for (int j = k + 1; j < SIZE; j++)
#pragma omp task untied firstprivate(k, j) shared(block)
        block[k][j] += block[k][k];
      for (int i = k + 1; i < SIZE; i++)
#pragma omp task untied firstprivate(k, i) shared(block)
        block[i][k] += block[k][k];
#pragma omp taskwait
      for (int i = k + 1; i < SIZE; i++)
        for (int j = k + 1; j < SIZE; j++)
#pragma omp task untied firstprivate(k, j, i) shared(block)
        block[i][j] += block[i][k] * block[k][j];
#pragma omp taskwait
    }
  }
  return block[SIZE - 1][SIZE - 1] == 0;
}
