// Two tasks write a variable; nothing says that the second needs the first.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp task
    x = 2;
  }
}
