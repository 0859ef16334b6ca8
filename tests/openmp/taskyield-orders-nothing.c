// A taskyield lets other tasks run; it does not wait for any.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp taskyield
    seen = x;
  }
}
