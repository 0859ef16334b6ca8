// The creator reads what its task writes without waiting for it.
// expect: race on x, lines 11 and 12
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
    seen = x;
  }
}
