// tasks: tiles are put on a board of 4 KB, byte by byte, and each call of the search has a copy of the board.
#include <stdio.h>
#include <string.h>

enum { SIDE = 64, TILES = 8, DEEP = 3 };
typedef unsigned char board[SIDE][SIDE];
static const struct { int rows, columns; } tiles[TILES] = {{9, 13}, {6, 11}, {12, 5}, {7, 7}, {4, 17}, {10, 3}, {5, 8}, {8, 6}};
static int solutions;
static long cells;

static int put(board to, int tile, int row, int column) {
  if (row + tiles[tile].rows > SIDE || column + tiles[tile].columns > SIDE) return 0;
  for (int i = row; i < row + tiles[tile].rows; i++)
    for (int j = column; j < column + tiles[tile].columns; j++) {
      if (to[i][j] != 0) return 0;
      to[i][j] = tile + 1;
    }
  return 1;
}

static void search(board from, int tile, int row, int column) {
  if (tile == TILES) {
    #pragma omp atomic
    solutions++;
    return;
  }
  // To the right of the last one, below it, and both.
  int rows[] = {row, row + tiles[tile - 1].rows, row + 2}, columns[] = {column + tiles[tile - 1].columns, column, column + tiles[tile - 1].columns};
  for (int way = 0; way < 3; way++) {
    int i = rows[way], j = columns[way];
    #pragma omp task firstprivate(i, j) if (tile < DEEP)
    {
      board mine;
      memcpy(mine, from, sizeof mine);
      if (put(mine, tile, i, j)) {
        #pragma omp atomic
        cells += tiles[tile].rows * tiles[tile].columns;
        search(mine, tile + 1, i, j);
      }
    }
  }
  #pragma omp taskwait
}

int main(void) {
  static board empty;
  const int STARTS = 160;
  #pragma omp parallel
  #pragma omp single
  for (int start = 0; start < STARTS; start++) {
    #pragma omp task firstprivate(start)
    {
      board mine;
      memcpy(mine, empty, sizeof mine);
      put(mine, 0, start / 8, start % 8);
      search(mine, 1, start / 8, start % 8);
    }
  }
  printf("%d %ld\n", solutions, cells);
}
