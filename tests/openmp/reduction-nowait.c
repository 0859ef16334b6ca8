// The result of a reduction is read before the barrier.
// expect: race on sum, lines 10 and 14
#include <omp.h>

int sum, seen[16];

int main(void) {
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 1000; i++) {
      sum += i;
    }
    seen[omp_get_thread_num()] = sum;
  }
}
