// The counter of the inner loop is private.
// expect: no race
int j, data[40][8];

int main(void) {
#pragma omp parallel for private(j)
  for (int i = 0; i < 40; i++) {
    for (j = 0; j < 8; j++) {
      data[i][j] = i;
    }
  }
  return data[39][7] != 39;
}
