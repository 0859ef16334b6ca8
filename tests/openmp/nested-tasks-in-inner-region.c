// The end of an inner region waits for its tasks.
// expect: no race
#include <omp.h>

int x[16];

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    {
#pragma omp task
      x[me]++;
    }
    x[me]++;
  }
  return x[1] != 2;
}
