// Variables that are known in one file or in one function only.
// variable: count
// variable: limits[1]
// variable: state.seed
#include "race.h"

static int limits[2];

void *worker(void *which) {
  static int count;
  static struct {
    int seed;
  } state;
  int *one = which;
  count += *one;
  limits[1] += *one;
  state.seed += *one;
  return count == limits[1] + state.seed ? which : 0;
}

RACE(worker)
