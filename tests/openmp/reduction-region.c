// A reduction of a parallel region, where each thread adds its number.
// expect: no race
#include <omp.h>

int sum, members;

int main(void) {
#pragma omp parallel reduction(+ : sum)
  {
    sum += omp_get_thread_num();
#pragma omp single
    members = omp_get_num_threads();
  }
  return sum != members * (members - 1) / 2;
}
