// A diamond whose last task names only one of the two that it needs.
// expect: race on c, lines 15 and 17
// threads: 1 2 4 16
int a, b, c, d;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a)
    a = 1;
#pragma omp task depend(in : a) depend(out : b)
    b = a + 1;
#pragma omp task depend(in : a) depend(out : c)
    c = a + 2;
#pragma omp task depend(in : b) depend(out : d)
    d = b + c;
  }
}
