// loops: bytes are counted, in bins that all threads add to by atomic operations of full strength, region after region.
#include <stdio.h>

enum { N = 200000, BINS = 256, REGIONS = 40 };
static unsigned char data[N];
static int bins[BINS];

int main(void) {
  unsigned seed = 1;
  for (int i = 0; i < N; i++) data[i] = (seed = seed * 1103515245 + 12345) >> 16;
  for (int region = 0; region < REGIONS; region++) {
    #pragma omp parallel for
    for (int i = 0; i < N; i++) __sync_fetch_and_add(&bins[data[i]], 1);
  }
  long all = 0, weighted = 0;
  for (int i = 0; i < BINS; i++) {
    all += bins[i];
    weighted += (long)i * bins[i];
  }
  for (int i = 0; i < N; i++) weighted -= (long)REGIONS * data[i];
  if (all != (long)N * REGIONS || weighted != 0) return 1;
  printf("counted\n");
}
