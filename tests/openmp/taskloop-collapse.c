// Two loops in one taskloop; each pair touches its own element.
// expect: no race
// threads: 1 2 4 16
int data[20][30];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop collapse(2)
    for (int i = 0; i < 20; i++) {
      for (int j = 0; j < 30; j++) {
        data[i][j] = i * j;
      }
    }
  }
  return data[19][29] != 551;
}
