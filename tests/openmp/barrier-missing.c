// Each thread writes its element, and reads its neighbour's without waiting.
// expect: race on data, lines 11 and 12
#include <omp.h>

int data[16], copy[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    data[me] = me;
    copy[me] = data[(me + 1) % all];
  }
}
