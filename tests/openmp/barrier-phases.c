// Each thread writes its element, waits, and reads its neighbour's.
// expect: no race
#include <omp.h>

int data[16], copy[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int phase = 0; phase < 5; phase++) {
      data[me] = me + phase;
#pragma omp barrier
      copy[me] = data[(me + 1) % all];
#pragma omp barrier
    }
  }
  return copy[0] != 5;
}
