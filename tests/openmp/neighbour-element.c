// Each thread also writes to the element of the next thread.
// expect: race on count, lines 11 and 12
#include <omp.h>

int count[17];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    count[me] = 1;
    count[me + 1] = 2;
  }
}
