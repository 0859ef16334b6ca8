// The pointer is threadprivate, and each thread allocates its block.
// expect: no race
#include <stdlib.h>

int *mine, total;
#pragma omp threadprivate(mine)

int main(void) {
#pragma omp parallel
  mine = calloc(10, sizeof *mine);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 100; i++) {
    mine[i % 10]++;
  }
#pragma omp parallel
  {
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
      total += mine[i];
    }
    free(mine);
  }
  return total != 100;
}
