// Queens by tasks that share one board: siblings write the same row.
// expect: race on board, lines 8 and 8
// threads: 1 2 4 16
enum { N = 4 };
int board[N];

void place(int row, int column) {
  board[row] = column;
  if (row + 1 < N) {
#pragma omp task
    place(row + 1, 0);
#pragma omp task
    place(row + 1, 1);
  }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
  place(0, 0);
}
