// The creator holds the critical section; its task does not, wherever it runs.
// expect: race on x, lines 13 and 14
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp critical
    {
#pragma omp task
      x = 1;
      x = 2;
    }
  }
}
