// hard: twenty thousand parallel regions.
#include <stdio.h>

static int hits[64];

int main(void) {
  for (int region = 0; region < 20000; region++) {
    #pragma omp parallel for
    for (int i = 0; i < 64; i++) hits[i]++;
  }
  printf("%d\n", hits[3]);
}
