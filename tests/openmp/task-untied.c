// An untied task may go on on another thread after it has waited; it is one task all the same.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task untied depend(inout : x)
      {
        x++;
#pragma omp taskyield
        x++;
      }
    }
  }
  return x != 8;
}
