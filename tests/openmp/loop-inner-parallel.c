// The inner loop is divided, once for each iteration of the outer one: each row needs the one before.
// expect: no race
int data[8][100];

int main(void) {
  for (int i = 1; i < 8; i++) {
#pragma omp parallel for
    for (int j = 0; j < 100; j++) {
      data[i][j] = data[i - 1][j] + 1;
    }
  }
  return data[7][99] != 7;
}
