// Each thread of the outer region has a row, which its inner region divides.
// expect: no race
#include <omp.h>

int data[16][20];

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
    int *row = data[omp_get_thread_num()];
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 20; i++) {
      row[i] = i;
    }
    row[0] = row[19];
  }
  return data[1][0] != 19;
}
