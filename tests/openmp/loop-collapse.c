// Two loops in one; each pair touches its own element.
// expect: no race
int data[20][30];

int main(void) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 30; j++) {
      data[i][j] = i + j;
    }
  }
  return data[19][29] != 48;
}
