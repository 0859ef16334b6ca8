// A barrier after the master block.
// expect: no race
#include <omp.h>

int x, seen[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    x = 1;
#pragma omp barrier
    seen[omp_get_thread_num()] = x;
  }
  return seen[1] != 1;
}
