// A sum by a tree without barriers between rounds.
// expect: race on part, lines 11 and 13
#include <omp.h>

int part[32], sum[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    part[me] = 1;
    if (me % 2 == 0 && me + 1 < all) {
      sum[me] = part[me] + part[me + 1];
    }
  }
}
