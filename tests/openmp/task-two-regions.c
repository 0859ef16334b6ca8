// Tasks of one parallel region come before those of the next.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
  for (int i = 0; i < 5; i++) {
#pragma omp parallel
#pragma omp single nowait
    {
#pragma omp task
      x++;
    }
  }
  return x != 5;
}
