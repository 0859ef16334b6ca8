// Threads write to neighbouring bytes of one word.
// expect: no race
#include <omp.h>

char flags[16];

int main(void) {
#pragma omp parallel
  for (int i = 0; i < 20; i++) {
    flags[omp_get_thread_num()] = i;
  }
  return flags[1] != 19;
}
