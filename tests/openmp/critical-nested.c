// Critical sections of different names inside each other: the common one excludes.
// expect: no race
#include <omp.h>

int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp critical(outer)
    {
      if (omp_get_thread_num() % 2) {
#pragma omp critical(odd)
        x++;
      } else {
#pragma omp critical(even)
        x++;
      }
    }
  }
  return x == 0;
}
