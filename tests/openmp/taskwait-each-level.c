// Each level waits for its children: so the first one waits for all.
// expect: no race
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
#pragma omp taskwait
    }
#pragma omp taskwait
    seen = x;
  }
  return seen != 1;
}
