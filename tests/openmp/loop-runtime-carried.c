// The program sets a dynamic schedule at run time; each iteration needs the second before it.
// expect: race on data, lines 11 and 11
#include <omp.h>

int data[300];

int main(void) {
  omp_set_schedule(omp_sched_dynamic, 3);
#pragma omp parallel for schedule(runtime)
  for (int i = 2; i < 300; i++) {
    data[i] = data[i - 2] + 1;
  }
}
