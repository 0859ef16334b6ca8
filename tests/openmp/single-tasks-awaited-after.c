// Tasks created in a single block without barrier are awaited at the next barrier.
// expect: no race
int x, y;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
#pragma omp task
      x = 1;
#pragma omp task
      y = 2;
    }
#pragma omp barrier
#pragma omp single
    x += y;
  }
  return x != 3;
}
