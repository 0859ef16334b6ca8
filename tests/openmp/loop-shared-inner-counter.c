// The counter of the inner loop is declared outside, and so shared.
// expect: race on j, lines 8 and 8
int j, data[40][8];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 40; i++) {
    for (j = 0; j < 8; j++) data[i][j & 7] = i;
  }
}
