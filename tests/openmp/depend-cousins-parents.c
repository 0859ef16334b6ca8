// The parents depend on each other, and wait for their children before they end.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(inout : x)
    {
#pragma omp task depend(out : x)
      x = 1;
#pragma omp taskwait
    }
#pragma omp task depend(inout : x)
    {
#pragma omp task depend(out : x)
      x = 2;
#pragma omp taskwait
    }
  }
  return x != 2;
}
