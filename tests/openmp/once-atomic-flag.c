// A value is made once under a lock; whether it is there is asked atomically.
// expect: no race
#include <omp.h>

int is_made, value, seen[16];

int main(void) {
#pragma omp parallel
  {
    int there;
#pragma omp atomic read acquire
    there = is_made;
    if (!there) {
#pragma omp critical
      {
#pragma omp atomic read acquire
        there = is_made;
        if (!there) {
          value = 7;
#pragma omp atomic write release
          is_made = 1;
        }
      }
    }
    seen[omp_get_thread_num()] = value;
  }
  return seen[0] != 7;
}
