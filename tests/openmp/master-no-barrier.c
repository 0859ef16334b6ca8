// A master block has no barrier: the others may read too early.
// expect: race on x, lines 11 and 12
#include <omp.h>

int x, seen[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    x = 1;
    seen[omp_get_thread_num()] = x;
  }
}
