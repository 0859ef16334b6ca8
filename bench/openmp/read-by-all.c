// hard: one table read by twenty thousand tasks.
#include <stdio.h>

enum { N = 500, TASKS = 20000 };
static int table[N], out[TASKS];

int main(void) {
  for (int i = 0; i < N; i++) table[i] = i;
  #pragma omp parallel
  #pragma omp single
  for (int task = 0; task < TASKS; task++) {
    #pragma omp task firstprivate(task)
    {
      int sum = 0;
      for (int i = 0; i < N; i++) sum += table[i];
      out[task] = sum;
    }
  }
  printf("%d\n", out[TASKS / 2]);
}
