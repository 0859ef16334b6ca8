// An atomic write, and one that is not.
// expect: race on x, lines 13 and 10
#include <omp.h>

int x;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    x = 1;
  } else if (omp_get_thread_num() == 1) {
#pragma omp atomic write
    x = 2;
  }
}
