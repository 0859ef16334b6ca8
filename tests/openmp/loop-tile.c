// A loop in tiles: rows of tiles for threads.
// expect: no race
int m[64][64];
int main(void) {
#pragma omp parallel for
#pragma omp tile sizes(8, 8)
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) m[i][j] = i * j;
  return m[3][4] != 12;
}
