// Each cell needs its north-west neighbour, which it does not name: the way by the north orders them.
// expect: no race
// threads: 1 2 4 16
enum { N = 10 };
int table[N][N];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 1; i < N; i++) {
    for (int j = 1; j < N; j++) {
#pragma omp task depend(in : table[i - 1][j], table[i][j - 1]) depend(out : table[i][j])
      table[i][j] = table[i - 1][j - 1] + 1;
    }
  }
  return table[N - 1][N - 1] != N - 1;
}
