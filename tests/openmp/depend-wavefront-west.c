// A table is filled by tasks that need their neighbours to the north and to the west, but name only the north.
// expect: race on table, lines 16 and 16
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
#pragma omp task depend(in : table[i - 1][j]) depend(out : table[i][j])
      table[i][j] = table[i - 1][j] + table[i][j - 1];
    }
  }
}
