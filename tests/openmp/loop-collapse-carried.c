// Two loops in one: a row is divided among threads, and its elements need their neighbours.
// expect: race on data, lines 9 and 9
int data[5][7];

int main(void) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 5; i++) {
    for (int j = 1; j < 7; j++) {
      data[i][j] = data[i][j - 1] + 1;
    }
  }
}
