// The single block hands over by a flag with release; every thread, the one that ran the block too, waits with acquire.
// expect: no race
#include <sched.h>

int data, flag, sum;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
      data = 1;
#pragma omp atomic write release
      flag = 1;
    }
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read acquire
      is_set = flag;
    }
    int mine = data;
#pragma omp atomic
    sum += mine;
  }
  return sum == 0;
}
