// One task writes in a critical section, the other does not.
// expect: race on x, lines 13 and 16
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp critical
      x = 1;
    }
#pragma omp task
    x = 2;
  }
}
