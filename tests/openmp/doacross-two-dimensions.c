// A table is filled by iterations that wait for their neighbours to the north and to the west.
// expect: no race
enum { N = 12 };
int table[N][N];

int main(void) {
  for (int i = 0; i < N; i++) {
    table[i][0] = table[0][i] = 1;
  }
#pragma omp parallel for ordered(2) schedule(dynamic)
  for (int i = 1; i < N; i++) {
    for (int j = 1; j < N; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      table[i][j] = table[i - 1][j] + table[i][j - 1];
#pragma omp ordered depend(source)
    }
  }
  return table[N - 1][N - 1] != 705432;
}
