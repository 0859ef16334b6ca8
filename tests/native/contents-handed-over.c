// What calloc, realloc and mmap have written is handed over in order; what is given back comes again to others, who know nothing
// of those who had it before; and a program hands out pieces of a large block under a lock of its own.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 1 << 20, ROUNDS = 8 };
static char *_Atomic handed[3];
static char *pool;
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *map(size_t size) { return mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static char *piece(size_t size) {
  pthread_mutex_lock(&lock);
  if (!pool) pool = calloc(1, LARGE);
  char *there = pool + used;
  used += size;
  pthread_mutex_unlock(&lock);
  return there;
}

void *maker(void *unused) {
  handed[0] = calloc(1, LARGE);
  handed[1] = realloc(calloc(1, 100), 200);
  handed[2] = map(LARGE);
  return unused;
}

void *recycler(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    char *large = calloc(1, LARGE), *small = calloc(1, 64), *mapped = map(LARGE);
    for (int at = 0; at < LARGE; at += LARGE / 16) large[at] = mapped[at] = small[at % 64] = 1;
    large = realloc(large, 2 * LARGE);
    large[LARGE / 2] = large[LARGE + LARGE / 2] = 1;
    mapped = mremap(mapped, LARGE, 2 * LARGE, MREMAP_MAYMOVE);
    mapped[LARGE / 2] = mapped[LARGE + LARGE / 2] = 1;
    memset(piece(500), 1, 500);
    free(large), free(small), munmap(mapped, 2 * LARGE);
  }
  return unused;
}

int main(void) {
  pthread_t a, others[3];
  pthread_create(&a, 0, maker, 0);
  for (int i = 0; i < 3; i++) {
    pthread_create(&others[i], 0, recycler, 0);
  }
  for (int i = 0; i < 3; i++) {
    while (!handed[i]) usleep(100);
    handed[i][5] = handed[i][99] = 1;
  }
  pthread_join(a, 0);
  for (int i = 0; i < 3; i++) pthread_join(others[i], 0);
  return 0;
}
