// A value is made once under a lock; whether it is there is asked without it.
// expect: race on is_made, lines 11 and 15
// expect: race on value, lines 14 and 18
#include <omp.h>

int is_made, value, seen[16];

int main(void) {
#pragma omp parallel
  {
    if (!is_made) {
#pragma omp critical
      if (!is_made) {
        value = 7;
        is_made = 1;
      }
    }
    seen[omp_get_thread_num()] = value;
  }
}
