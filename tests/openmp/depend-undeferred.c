// An undeferred task with a dependence waits for its predecessor, and its creator waits for it.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task depend(inout : x) if (0)
    x++;
    x++;
  }
  return x != 3;
}
