// A hand-over of data by flushes around relaxed atomic accesses to the flag.
// expect: no race
#include <omp.h>
#include <sched.h>

int data, flag, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
#pragma omp flush
#pragma omp atomic write relaxed
    flag = 1;
  } else if (omp_get_thread_num() == 1) {
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read relaxed
      is_set = flag;
    }
#pragma omp flush
    seen = data;
  }
  return seen != 1;
}
