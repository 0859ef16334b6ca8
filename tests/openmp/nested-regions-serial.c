// An inner region of one thread: its owner's elements are its own.
// expect: no race
#include <omp.h>

int data[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp parallel num_threads(1)
    for (int i = 0; i < 10; i++) {
      data[me]++;
    }
    data[me]++;
  }
  return data[1] != 11;
}
