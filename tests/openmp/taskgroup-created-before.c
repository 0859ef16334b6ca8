// A taskgroup does not wait for a task that was created before it began.
// expect: race on x, lines 11 and 17
// threads: 1 2 4 16
int x, y, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp taskgroup
    {
#pragma omp task
      y = 1;
    }
    seen = x + y;
  }
}
