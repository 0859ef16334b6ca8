// Queens on a board of six by tasks; each has its own copy of the board.
// expect: no race
// threads: 1 2 4 16
#include <string.h>

enum { N = 6 };
int solutions;

int fits(const char *board, int row, int column) {
  for (int i = 0; i < row; i++) {
    int apart = board[i] - column;
    if (apart == 0 || apart == row - i || apart == i - row) {
      return 0;
    }
  }
  return 1;
}

void place(const char *board, int row) {
  if (row == N) {
#pragma omp atomic
    solutions++;
    return;
  }
  for (int column = 0; column < N; column++) {
    if (fits(board, row, column)) {
#pragma omp task
      {
        char next[N];
        memcpy(next, board, row);
        next[row] = column;
        place(next, row + 1);
      }
    }
  }
#pragma omp taskwait
}

int main(void) {
  char board[N] = {0};
#pragma omp parallel
#pragma omp single
  place(board, 0);
  return solutions != 4;
}
