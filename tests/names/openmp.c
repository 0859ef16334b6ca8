// Variables of main that a parallel region shares, and one that a task does.
// compiler: clang
// options: -fopenmp
// variable: sum
// variable: A[1][0][0]
// variable: point.y
// variable: found
#include <stdio.h>

struct point {
  int x, y;
};

int main(void) {
  int sum = 0;
  double A[2][2][2] = {{{0}}};
  struct point point = {0, 0};
#pragma omp parallel num_threads(2)
  {
    sum += 1;
    A[1][0][0] += 1;
    point.y += 1;
  }
  int found = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(found)
    found += 1;
#pragma omp task shared(found)
    found += 2;
  }
  printf("%d %g %d %d\n", sum, A[1][0][0], point.y, found);
  return 0;
}
