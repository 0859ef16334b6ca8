// One thread of the team creates a task for each member: they are siblings, and their dependences order them.
// expect: no race
// threads: 1 2 4 16
#include <omp.h>

int x;

int main(void) {
  int members = 0;
#pragma omp parallel
#pragma omp single
  {
    members = omp_get_num_threads();
    for (int i = 0; i < members; i++) {
#pragma omp task depend(inout : x)
      x++;
    }
  }
  return x != members;
}
