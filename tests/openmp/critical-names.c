// Critical sections with different names do not exclude each other.
// expect: race on x, lines 12 and 15
// options: -O0
#include <omp.h>

int x;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
#pragma omp critical(left)
    x++;
  } else if (omp_get_thread_num() == 1) {
#pragma omp critical(right)
    x++;
  }
}
