// A sibling's taskwait waits for its own children, of which it has none.
// expect: race on x, lines 11 and 15
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp task
    {
#pragma omp taskwait
      seen = x;
    }
  }
}
