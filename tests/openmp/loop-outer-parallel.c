// The outer loop is divided, but each row needs the one before.
// expect: race on data, lines 9 and 9
int data[64][10];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 64; i++) {
    for (int j = 0; j < 10; j++) {
      data[i][j] = data[i - 1][j] + 1;
    }
  }
}
