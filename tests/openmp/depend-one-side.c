// The writer names the variable; the reader does not.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task
    seen = x;
  }
}
