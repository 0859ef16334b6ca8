// A dependence object stands for the clause.
// expect: no race
// threads: 1 2 4 16
#include <omp.h>

int x;

int main(void) {
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(depobj : object)
    x = 1;
#pragma omp task depend(depobj : object)
    x = 2;
#pragma omp task depend(in : x)
    x++;
  }
#pragma omp depobj(object) destroy
  return x != 3;
}
