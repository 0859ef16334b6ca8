// hard: three hundred thousand tasks that do nothing, and one wait.
#include <stdio.h>

static int done;

int main(void) {
  #pragma omp parallel
  #pragma omp single
  for (int task = 0; task < 300000; task++) {
    #pragma omp task
    if (task < 0) done = 1;
  }
  printf("%d\n", done);
}
