// A taskwait with a dependence waits for the tasks that it names.
// expect: no race
// threads: 1 2 4 16
int x, y;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task depend(out : y)
    y = 1;
#pragma omp taskwait depend(in : x)
    x++;
#pragma omp taskwait
    y += x;
  }
  return y != 3;
}
