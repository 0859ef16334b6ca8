// Tasks exclude each other by a critical section.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 30; i++) {
#pragma omp task
    {
#pragma omp critical
      x++;
    }
  }
  return x != 30;
}
