// A priority is a hint: it orders nothing.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task priority(9)
    x = 1;
#pragma omp task priority(1)
    x = 2;
  }
}
