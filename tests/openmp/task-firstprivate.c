// The task has a copy of the variable that its creator changes.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    x = 1;
#pragma omp task firstprivate(x)
    seen = x;
    x = 2;
  }
  return seen != 1;
}
