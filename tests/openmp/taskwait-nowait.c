// A taskwait that need not wait is a task that does nothing: its creator goes on.
// expect: race on x, lines 9 and 13
int x, y;
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task depend(out : y)
    y = 1;
#pragma omp taskwait depend(in : x) nowait
    x = 2;
#pragma omp taskwait
  }
  return 0;
}
