// hard: sets of a thousand tasks that depend on one address.
#include <stdio.h>

static int x, y[1000];

int main(void) {
  #pragma omp parallel
  #pragma omp single
  for (int round = 0; round < 20; round++) {
    #pragma omp task depend(inout : x)
    x++;
    for (int i = 0; i < 1000; i++) {
      #pragma omp task depend(in : x) firstprivate(i)
      y[i] = x;
    }
  }
  printf("%d\n", x);
}
