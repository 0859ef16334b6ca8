// A barrier waits for all tasks of the team, also for grandchildren.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
#pragma omp task
      {
#pragma omp task
        x = 1;
      }
    }
#pragma omp barrier
#pragma omp master
    seen = x;
  }
  return seen != 1;
}
