// A task of one thread, and another thread that has not met a barrier since.
// expect: race on x, lines 12 and 15
#include <omp.h>

int x, seen;

int main(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1) {
#pragma omp task
      x = 1;
    }
    if (omp_get_thread_num() == 0) {
      seen = x;
    }
  }
}
