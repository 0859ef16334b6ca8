// Two threads race before a region is cancelled; nobody gets past the barrier.
// expect: race on x, lines 12 and 14
// environment: OMP_CANCELLATION=true
#include <omp.h>

int x;

int main(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
      x = 1;
    } else if (omp_get_thread_num() == 1) {
      x = 2;
#pragma omp cancel parallel
    }
#pragma omp barrier
    x = 3;
  }
}
