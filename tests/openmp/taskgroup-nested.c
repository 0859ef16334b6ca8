// An inner taskgroup waits for its tasks, the outer one for the rest.
// expect: no race
// threads: 1 2 4 16
int x, y;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      y = 1;
#pragma omp taskgroup
      {
#pragma omp task
        x = 1;
      }
      x++;
    }
    x += y;
  }
  return x != 3;
}
