// Two untied tasks write a variable after they have yielded.
// expect: race on x, lines 14 and 17
// threads: 1 2 4 16
int x, y;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task untied
    {
      y = 1;
#pragma omp taskyield
      x = 1;
    }
#pragma omp task untied
    x = 2;
  }
}
