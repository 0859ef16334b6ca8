// A taskgroup waits for descendants.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp task
        x = 1;
      }
    }
    seen = x;
  }
  return seen != 1;
}
