// tasks: cells are placed on a board, the smallest area wins; the best so far is kept in a critical section.
#include <stdio.h>
#include <string.h>

enum { CELLS = 9, SIDE = 20 };
static const int shape[CELLS][2] = {{3, 2}, {2, 4}, {1, 5}, {3, 3}, {2, 2}, {4, 1}, {2, 3}, {1, 3}, {5, 2}};
static int best = SIDE * SIDE;

typedef struct {
  char taken[SIDE][SIDE];
  int rows, columns;
} Board;

static int area_so_far(void) {
  int area;
  #pragma omp atomic read
  area = best;
  return area;
}

static int fits(const Board *board, int row, int column, int rows, int columns) {
  if (row + rows > SIDE || column + columns > SIDE) return 0;
  for (int i = row; i < row + rows; i++)
    for (int j = column; j < column + columns; j++)
      if (board->taken[i][j]) return 0;
  return 1;
}

static void place(const Board *board, int cell) {
  if (cell == CELLS) {
    #pragma omp critical
    if (board->rows * board->columns < best) {
      #pragma omp atomic write
      best = board->rows * board->columns;
    }
    return;
  }
  // At the right end or the lower end of what is there, either way round.
  for (int turn = 0; turn < 2; turn++)
    for (int side = 0; side < 2; side++) {
      #pragma omp task firstprivate(turn, side)
      {
        int rows = shape[cell][turn], columns = shape[cell][1 - turn];
        int row = side ? board->rows : 0, column = side ? 0 : board->columns;
        if (fits(board, row, column, rows, columns)) {
          Board next = *board;
          for (int i = row; i < row + rows; i++) memset(&next.taken[i][column], 1, columns);
          if (row + rows > next.rows) next.rows = row + rows;
          if (column + columns > next.columns) next.columns = column + columns;
          if (next.rows * next.columns < area_so_far()) place(&next, cell + 1);
        }
      }
    }
  #pragma omp taskwait
}

int main(void) {
  static Board empty;
  #pragma omp parallel
  #pragma omp single
  place(&empty, 0);
  printf("%d\n", best);
}
