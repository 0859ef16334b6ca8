// The task is not final: its tasks run at the same time.
// expect: race on x, lines 13 and 15
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(0)
    {
#pragma omp task
      x = 1;
#pragma omp task
      x = 2;
    }
  }
}
