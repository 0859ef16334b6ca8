// The flag is flushed, but it is not atomic.
// expect: race on flag, lines 10 and 14
#include <omp.h>

int flag, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    flag = 1;
#pragma omp flush(flag)
  } else if (omp_get_thread_num() == 1) {
#pragma omp flush(flag)
    seen = flag;
  }
}
