// Writers use a critical section, the reader does not.
// expect: race on x, lines 13 and 10
#include <omp.h>

int x, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    seen = x;
  } else {
#pragma omp critical
    x++;
  }
}
