// A task that takes part in a reduction creates others that do; threads that run only those have a part of their own, too.
// expect: no race
#include <stdio.h>

int done;

int main(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
#pragma omp task in_reduction(+ : sum)
  {
    for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        sum += i;
#pragma omp atomic
        done++;
      }
    }
    // Other threads run them, which have never run the task that creates them.
    for (int seen = 0; seen < 8;) {
#pragma omp atomic read
      seen = done;
    }
  }
  printf("%d\n", sum);
}
