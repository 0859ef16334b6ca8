// Only the outer loop is divided: the elements of a row need their neighbours, which the same iteration computes.
// expect: no race
int data[5][7];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 5; i++) {
    for (int j = 1; j < 7; j++) {
      data[i][j] = data[i][j - 1] + 1;
    }
  }
  return data[4][6] != 6;
}
