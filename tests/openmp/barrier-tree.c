// A sum by a tree: in each round half of the threads add their neighbour's part, after a barrier.
// expect: no race
#include <omp.h>

int part[32];

int main(void) {
  int members = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    part[me] = 1;
    for (int step = 1; step < all; step *= 2) {
#pragma omp barrier
      if (me % (2 * step) == 0 && me + step < all) {
        part[me] += part[me + step];
      }
    }
#pragma omp single
    members = all;
  }
  return part[0] != members;
}
