// All threads wait at the end of a single block.
// expect: no race
#include <omp.h>

int x, seen[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    x = 1;
    seen[omp_get_thread_num()] = x;
  }
  return seen[1] != 1;
}
