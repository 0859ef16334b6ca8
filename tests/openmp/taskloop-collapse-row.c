// Two loops in one taskloop: a row is shared by several tasks.
// expect: race on row, lines 13 and 13
// threads: 1 2 4 16
int row[20];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop collapse(2) num_tasks(600)
    for (int i = 0; i < 20; i++) {
      for (int j = 0; j < 30; j++) {
        row[i] += j;
      }
    }
  }
}
