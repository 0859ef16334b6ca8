// An undeferred task leaves a child behind: taskwait waits for the task, not for its child.
// expect: race on x, lines 15 and 19
// threads: 1 2 4 16
int x, y;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0)
    {
      y = 1;
#pragma omp task if (0)
#pragma omp task
      x = 1;
      y = 2;
    }
#pragma omp taskwait
    x = 2 + y;
  }
}
