// An undeferred task is not ordered with a deferred one that was created before it.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp task if (0)
    x = 2;
  }
}
