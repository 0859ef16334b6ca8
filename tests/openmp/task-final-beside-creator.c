// A final task is deferred itself: it runs beside its creator.
// expect: race on x, lines 13 and 15
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(1)
    {
#pragma omp task
      x = 1;
    }
    x = 2;
  }
}
