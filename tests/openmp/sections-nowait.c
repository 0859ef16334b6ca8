// After sections without a barrier, a single block reads what they write.
// expect: race on a, lines 11 and 16
int a, b, seen;

int main(void) {
#pragma omp parallel
  {
#pragma omp sections nowait
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
    }
#pragma omp single
    seen = a;
  }
}
