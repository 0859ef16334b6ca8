// Dependences order siblings; these two tasks have different parents.
// expect: race on x, lines 13 and 18
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task depend(out : x)
      x = 1;
    }
#pragma omp task
    {
#pragma omp task depend(out : x)
      x = 2;
    }
  }
}
