// The thread that counts down to zero reads what all others have written.
// expect: no race
#include <omp.h>

int part[16], left, sum;

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    left = omp_get_num_threads();
    part[omp_get_thread_num()] = 1;
    int now;
#pragma omp atomic capture acq_rel
    now = --left;
    if (now == 0) {
      for (int i = 0; i < omp_get_num_threads(); i++) {
        sum += part[i];
      }
    }
  }
  return sum < 2;
}
