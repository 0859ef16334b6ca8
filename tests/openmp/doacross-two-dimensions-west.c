// A table is filled by iterations that wait for their neighbour to the west only.
// expect: race on table, lines 11 and 11
enum { N = 12 };
int table[N][N];

int main(void) {
#pragma omp parallel for ordered(2) schedule(dynamic)
  for (int i = 1; i < N; i++) {
    for (int j = 1; j < N; j++) {
#pragma omp ordered depend(sink : i, j - 1)
      table[i][j] = table[i - 1][j] + table[i][j - 1] + 1;
#pragma omp ordered depend(source)
    }
  }
}
