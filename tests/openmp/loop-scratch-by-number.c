// Each thread uses its own row of a shared buffer, by its number.
// expect: no race
#include <omp.h>

int scratch[16][10], data[200];

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 200; i++) {
    int *mine = scratch[omp_get_thread_num()];
    for (int k = 0; k < 10; k++) {
      mine[k] = i;
    }
    data[i] = mine[i % 10];
  }
  return data[199] != 199;
}
