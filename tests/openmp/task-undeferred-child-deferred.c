// Being undeferred is not inherited: the child of an undeferred task is deferred.
// expect: race on x, lines 13 and 15
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0)
    {
#pragma omp task
      x = 1;
    }
    x = 2;
  }
}
