// The barrier is in a function that all threads call.
// expect: no race
#include <omp.h>

int data[16], copy[16];

void meet(void) {
#pragma omp barrier
}

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    data[me] = me;
    meet();
    copy[me] = data[(me + 1) % all];
  }
  return copy[0] != 1;
}
