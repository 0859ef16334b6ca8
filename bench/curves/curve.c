// Threads that call themselves to some depth, and then read and write memory of their own and read what all share. Some of
// their accesses race. curve THREADS ACCESSES DEPTH RACY
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN = 4096, SHARED = 4096, MOST = 256 };
static long accesses, racy;
static int depth;
static int shared[SHARED];
static int raced[1 << 16];

__attribute__((noinline)) static long work(int *own, int left) {
  if (left > 0) {
    long below = work(own, left - 1);
    __asm__ volatile("" : "+r"(below)); // A call that stays one.
    return below;
  }
  long sum = 0;
  long every = racy > 0 ? accesses / racy : accesses + 1;
  for (long i = 0, until = every; i < accesses; i += 4) {
    own[i % OWN] += shared[i % SHARED];
    sum += own[(i + 1) % OWN];
    if (i >= until) {
      raced[(i / every) % (1 << 16)]++;
      until += every;
    }
  }
  return sum;
}

static void *start(void *unused) {
  int *own = calloc(OWN, sizeof *own);
  long sum = work(own, depth);
  free(own);
  return (void *)(sum == 42 ? unused : NULL);
}

int main(int count, char **words) {
  if (count < 5) return 2;
  int threads = atoi(words[1]);
  accesses = atol(words[2]);
  depth = atoi(words[3]);
  racy = atol(words[4]);
  if (threads > MOST) return 2;
  pthread_t all[MOST];
  for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, start, NULL);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  return 0;
}
