// The program sets one schedule after the other at run time; iterations touch different elements.
// expect: no race
#include <omp.h>

int data[300];

int main(void) {
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int kind = 0; kind < 4; kind++) {
    omp_set_schedule(kinds[kind], 0);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 300; i++) {
      data[i] += i;
    }
  }
  return data[299] != 1196;
}
