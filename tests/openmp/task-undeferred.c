// The creator waits for an undeferred task.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; i++) {
#pragma omp task if (0)
      x++;
    }
    x++;
  }
  return x != 11;
}
