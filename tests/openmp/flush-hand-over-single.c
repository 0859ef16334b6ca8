// A single block hands over by flushes and a relaxed flag; all threads wait for it.
// expect: no race
#include <sched.h>

int data, flag, sum;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
      data = 1;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    }
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read
      is_set = flag;
    }
#pragma omp flush
    int mine = data;
#pragma omp atomic
    sum += mine;
  }
  return sum == 0;
}
