// A dependence object is changed to `in`: tasks that use it no longer wait for each other.
// expect: race on x, lines 16 and 18
// threads: 1 2 4 16
#include <omp.h>

int x;

int main(void) {
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp depobj(object) update(in)
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(depobj : object)
    x = 1;
#pragma omp task depend(depobj : object)
    x = 2;
  }
#pragma omp depobj(object) destroy
}
