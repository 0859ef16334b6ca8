// tasks: every pair of some sequences is aligned, a task a pair.
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 24, LENGTH = 200 };
static char sequence[COUNT][LENGTH];
static int score[COUNT][COUNT];

static int align(const char *a, const char *b) {
  int *row = calloc(LENGTH + 1, sizeof *row), best = 0;
  for (int i = 1; i <= LENGTH; i++) {
    int corner = 0;
    for (int j = 1; j <= LENGTH; j++) {
      int here = corner + (a[i - 1] == b[j - 1] ? 2 : -1);
      corner = row[j];
      if (row[j] - 1 > here) here = row[j] - 1;
      if (row[j - 1] - 1 > here) here = row[j - 1] - 1;
      if (here < 0) here = 0;
      row[j] = here;
      if (here > best) best = here;
    }
  }
  free(row);
  return best;
}

int main(void) {
  unsigned seed = 1;
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < LENGTH; j++) sequence[i][j] = "ACGT"[((seed = seed * 1103515245 + 12345) >> 16) % 4];
  #pragma omp parallel
  #pragma omp for schedule(dynamic)
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < i; j++) {
      #pragma omp task firstprivate(i, j)
      score[i][j] = align(sequence[i], sequence[j]);
    }
  long sum = 0;
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < i; j++) sum += score[i][j];
  printf("%ld\n", sum);
}
