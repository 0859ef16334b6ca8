// The thread that counts down to zero reads what all others have written; counting orders nothing.
// expect: race on part, lines 12 and 18
#include <omp.h>

int part[16], left, sum;

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    left = omp_get_num_threads();
    part[omp_get_thread_num()] = 1;
    int now;
#pragma omp atomic capture relaxed
    now = --left;
    if (now == 0) {
      for (int i = 0; i < omp_get_num_threads(); i++) {
        sum += part[i];
      }
    }
  }
}
