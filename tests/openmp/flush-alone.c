// A flush without an atomic flag orders nothing.
// expect: race on data, lines 10 and 14
#include <omp.h>

int data, seen;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
#pragma omp flush
  } else if (omp_get_thread_num() == 1) {
#pragma omp flush
    seen = data;
  }
}
