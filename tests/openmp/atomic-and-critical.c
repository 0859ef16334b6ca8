// An atomic update does not exclude a critical section.
// expect: race on x, lines 14 and 11
#include <omp.h>

int x;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
#pragma omp critical
    x++;
  } else {
#pragma omp atomic
    x++;
  }
}
