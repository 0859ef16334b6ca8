// Sections that write different variables.
// expect: no race
int a, b, c;

int main(void) {
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
    }
#pragma omp single
    c = a + b;
  }
  return c != 3;
}
