// Each task has a copy of the pointer; what it points to is still one.
// expect: race on x, lines 12 and 14
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    int *p = &x;
#pragma omp task firstprivate(p)
    *p = 1;
#pragma omp task firstprivate(p)
    *p = 2;
  }
}
