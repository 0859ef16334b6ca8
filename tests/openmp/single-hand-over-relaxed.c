// The single block sets a flag, relaxed; whoever sees it has no order with the block.
// expect: race on data, lines 12 and 23
#include <sched.h>

int data, flag, sum;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
      data = 1;
#pragma omp atomic write relaxed
      flag = 1;
    }
    int is_set = 0;
    while (!is_set) {
      sched_yield();
#pragma omp atomic read relaxed
      is_set = flag;
    }
    int mine;
    mine = data;
#pragma omp atomic
    sum += mine;
  }
  return sum == 0;
}
