// Two sections have locals at the same place, shared with their tasks, which they wait for.
// expect: no race
int a, b;

int main(void) {
#pragma omp parallel sections
  {
#pragma omp section
    {
      int x = 1;
#pragma omp task shared(x)
      x = 2;
#pragma omp taskwait
      a = x;
    }
#pragma omp section
    {
      int y = 1;
#pragma omp task shared(y)
      y = 3;
#pragma omp taskwait
      b = y;
    }
  }
  return a + b != 5;
}
