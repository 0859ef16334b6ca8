// Iterations copy parts of an array that overlap by one byte.
// expect: race on to, lines 10 and 10
#include <string.h>

char from[1100], to[1100];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 16; i++) {
    memcpy(to + 64 * i, from + 64 * i, 65);
  }
}
