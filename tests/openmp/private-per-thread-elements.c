// Each thread has an element of a shared array, by its number.
// expect: no race
#include <omp.h>

int count[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    for (int i = 0; i < 50; i++) {
      count[me]++;
    }
  }
  return count[1] != 50;
}
