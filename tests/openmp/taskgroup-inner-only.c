// After the inner taskgroup, a task of the outer one may still run.
// expect: race on y, lines 13 and 19
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
      x += y;
    }
  }
}
