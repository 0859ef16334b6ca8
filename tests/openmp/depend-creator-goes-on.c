// A dependence orders tasks, not their creator, who reads the result too early.
// expect: race on x, lines 11 and 12
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
    seen = x;
  }
}
