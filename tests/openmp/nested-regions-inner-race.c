// The threads of one inner region write the same variable.
// expect: race on x, lines 13 and 13
#include <omp.h>

int x;

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp single
  {
#pragma omp parallel num_threads(2)
    x++;
  }
}
