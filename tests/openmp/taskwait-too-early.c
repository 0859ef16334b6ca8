// The taskwait stands between two tasks: it waits for the first only.
// expect: race on y, lines 14 and 15
// threads: 1 2 4 16
int x, y;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp taskwait
#pragma omp task
    y = x;
    y = 2;
  }
}
