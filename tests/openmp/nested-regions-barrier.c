// The barrier of an inner region does not hold for the outer one.
// expect: race on x, lines 13 and 20
#include <omp.h>

int x, seen;

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    if (me == 0) {
      x = 1;
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
    if (me == 1) {
      seen = x;
    }
  }
}
