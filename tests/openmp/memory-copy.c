// Iterations copy parts of an array that do not overlap.
// expect: no race
#include <string.h>

char from[1024], to[1024];

int main(void) {
  memset(from, 'x', sizeof from);
#pragma omp parallel for
  for (int i = 0; i < 16; i++) {
    memcpy(to + 64 * i, from + 64 * i, 64);
  }
  return to[1023] != 'x';
}
