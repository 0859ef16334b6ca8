// The inner regions of different threads write the same array.
// expect: race on data, lines 13 and 13
#include <omp.h>

int data[20];

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 20; i++) {
      data[i] = i;
    }
  }
}
