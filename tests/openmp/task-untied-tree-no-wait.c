// Steps of a simulation over a tree: each node is an untied task that forgets to wait.
// expect: race on sum, lines 14 and 14
// expect: race on sum, lines 14 and 16
#include <stdlib.h>
enum { DEPTH = 6, STEPS = 20, NODES = 1 << (DEPTH + 1) };
static int value[NODES], sum[NODES];

static void step(int node, int depth) {
  if (depth < DEPTH) {
    for (int child = 2 * node; child <= 2 * node + 1; child++) {
#pragma omp task untied firstprivate(child, depth)
      step(child, depth + 1);
    }
    sum[node] = sum[2 * node] + sum[2 * node + 1];
  } else {
    sum[node] = value[node]++;
  }
}

int main(void) {
  for (int i = 0; i < STEPS; i++) {
#pragma omp parallel
#pragma omp single
#pragma omp task untied
    {
      step(1, 0);
#pragma omp taskwait
    }
  }
  return sum[1] == 0;
}
