// A taskwait that need not wait orders the tasks before and after it.
// expect: no race
int x, y;
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp taskwait depend(in : x) depend(out : y) nowait
#pragma omp task depend(in : y)
    x = 2;
#pragma omp taskwait
  }
  return x != 2;
}
