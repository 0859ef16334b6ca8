// One thread writes data and sets a flag; another sees the flag, and reads the data: relaxed, so without order.
// expect: race on data, lines 11 and 21
#include <omp.h>
#include <sched.h>

int data, flag, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
#pragma omp atomic write relaxed
    flag = 1;
  } else if (omp_get_thread_num() == 1) {
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read relaxed
      is_set = flag;
    }
    seen = data;
  }
}
