// tasks: the queens puzzle, a board copied for each of many tasks.
#include <stdio.h>
#include <string.h>

enum { N = 9 };

static int fits(const char *board, int row, int column) {
  for (int r = 0; r < row; r++)
    if (board[r] == column || board[r] - column == r - row || board[r] - column == row - r) return 0;
  return 1;
}

static int place(const char *board, int row) {
  if (row == N) return 1;
  int found[N] = {0};
  for (int column = 0; column < N; column++) {
    if (!fits(board, row, column)) continue;
    #pragma omp task shared(found) firstprivate(column)
    {
      char next[N];
      memcpy(next, board, row);
      next[row] = column;
      found[column] = place(next, row + 1);
    }
  }
  #pragma omp taskwait
  int all = 0;
  for (int column = 0; column < N; column++) all += found[column];
  return all;
}

int main(void) {
  int all;
  char board[N];
  #pragma omp parallel
  #pragma omp single
  all = place(board, 0);
  printf("%d\n", all);
}
