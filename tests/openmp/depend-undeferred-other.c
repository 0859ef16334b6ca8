// An undeferred task waits for what it depends on, not for other siblings.
// expect: race on y, lines 13 and 15
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
#pragma omp task depend(in : x) if (0)
    y += x;
  }
}
