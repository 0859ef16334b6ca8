// The flag is set before the data is written.
// expect: race on data, lines 13 and 21
#include <omp.h>
#include <sched.h>

int data, flag, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
#pragma omp atomic write release
    flag = 1;
    data = 1;
  } else if (omp_get_thread_num() == 1) {
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read acquire
      is_set = flag;
    }
    seen = data;
  }
}
