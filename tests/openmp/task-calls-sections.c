// A task divides its work into sections of a region of its own.
// expect: no race
int a, b;
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(a, b)
    {
#pragma omp parallel sections num_threads(2)
      {
#pragma omp section
        a = 1;
#pragma omp section
        b = 1;
      }
      a += b;
    }
#pragma omp taskwait
    b = a;
  }
  return b != 2;
}
