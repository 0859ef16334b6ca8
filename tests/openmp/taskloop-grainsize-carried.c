// Iterations at a distance of a hundred are in different tasks, since a task has at most twenty.
// expect: race on data, lines 12 and 12
// threads: 1 2 4 16
int data[300];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(10)
    for (int i = 100; i < 300; i++) {
      data[i] = data[i - 100] + 1;
    }
  }
}
