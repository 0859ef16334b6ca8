// Atomic updates, and an atomic read.
// expect: no race
#include <omp.h>

int x, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
#pragma omp atomic read
    seen = x;
  } else {
#pragma omp atomic
    x++;
  }
  return seen < 0;
}
