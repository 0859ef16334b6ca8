// The creator changes a variable that its task reads.
// expect: race on x, lines 12 and 13
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    x = 1;
#pragma omp task
    seen = x;
    x = 2;
  }
}
