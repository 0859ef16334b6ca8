// One thread writes data and sets a flag with release; another sees the flag with acquire, and reads the data.
// expect: no race
#include <omp.h>
#include <sched.h>

int data, flag, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
#pragma omp atomic write release
    flag = 1;
  } else if (omp_get_thread_num() == 1) {
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read acquire
      is_set = flag;
    }
    seen = data;
  }
  return seen != 1;
}
