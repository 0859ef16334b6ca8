// The result of a reduction is read after the barrier.
// expect: no race
#include <omp.h>

int sum, seen[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 1000; i++) {
      sum += i;
    }
#pragma omp barrier
    seen[omp_get_thread_num()] = sum;
  }
  return seen[1] != 499500;
}
