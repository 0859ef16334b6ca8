// Two threads write to bit-fields of one word.
// expect: race on flags, lines 13 and 15
// options: -O0
#include <omp.h>

struct {
  unsigned left : 4, right : 4;
} flags;

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    flags.left = 1;
  } else if (omp_get_thread_num() == 1) {
    flags.right = 1;
  }
}
