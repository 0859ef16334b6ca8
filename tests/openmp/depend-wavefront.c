// A table is filled by tasks: each needs its neighbours to the north and to the west.
// expect: no race
// threads: 1 2 4 16
enum { N = 12 };
int table[N][N];

int main(void) {
  for (int i = 0; i < N; i++) {
    table[i][0] = table[0][i] = 1;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 1; i < N; i++) {
    for (int j = 1; j < N; j++) {
#pragma omp task depend(in : table[i - 1][j], table[i][j - 1]) depend(out : table[i][j])
      table[i][j] = table[i - 1][j] + table[i][j - 1];
    }
  }
  return table[N - 1][N - 1] != 705432;
}
