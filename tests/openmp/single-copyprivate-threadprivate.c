// One thread hands its own variables to all others.
// expect: no race
#include <stdlib.h>
int sum;
int main(void) {
  static int x; static int *p;
#pragma omp threadprivate(x, p)
#pragma omp parallel
  {
#pragma omp single copyprivate(x, p)
    { x = 5; p = malloc(16); p[0] = 7; }
#pragma omp atomic
    sum += x + p[0];
#pragma omp barrier
#pragma omp masked
    free(p);
  }
  return sum % 12;
}
