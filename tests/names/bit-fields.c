// Neighbouring bit fields share a unit of memory: writing one rewrites the others, and the first is named.
// variable: flags.a
// variable: mode.fast
#include "race.h"

struct {
  unsigned a : 3;
  unsigned b : 3;
} flags;
struct {
  int level;
  unsigned fast : 1;
} mode;

void *worker(void *which) {
  int *one = which;
  flags.b = *one;
  mode.fast = *one;
  return 0;
}

RACE(worker)
