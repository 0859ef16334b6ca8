// A taskwait waits for children, not for theirs.
// expect: race on x, lines 13 and 16
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      x = 1;
    }
#pragma omp taskwait
    seen = x;
  }
}
