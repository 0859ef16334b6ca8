// calloc, realloc and mmap write what they hand out: whoever gets the memory without order may write before they do.
// expect: race on heap block of 64 bytes, lines 28 and 41
// expect: race on heap block of 8000000 bytes, lines 29 and 42
// expect: race on heap block of 48 bytes, lines 30 and 43
// expect: race on *, lines 31 and 44
// expect: race on *, lines 32 and 45
// expect: race on *, lines 33 and 46
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 8000000 };

enum { CLEARED, CLEARED_LARGE, LONGER, MAPPED, MAPPED_LARGE, MOVED, COUNT };
static char *memory[COUNT];

#define map(size) mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

static void publish(int number, char *there) { __atomic_store_n(&memory[number], there, __ATOMIC_RELAXED); }

void *maker(void *unused) {
  char *shorter = malloc(40);
  char *elsewhere = map(PAGE);

  // Each in a line of its own.
  publish(CLEARED, calloc(4, 16));
  publish(CLEARED_LARGE, calloc(LARGE / 8, 8));
  publish(LONGER, realloc(shorter, 48));
  publish(MAPPED, map(PAGE));
  publish(MAPPED_LARGE, map(512 * PAGE));
  publish(MOVED, mremap(elsewhere, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
  return unused;
}

void *user(void *unused) {
  while (!__atomic_load_n(&memory[MOVED], __ATOMIC_RELAXED)) usleep(100);
  char *got[COUNT];
  for (int i = 0; i < COUNT; i++) got[i] = __atomic_load_n(&memory[i], __ATOMIC_RELAXED);
  got[CLEARED][5] = 1;
  got[CLEARED_LARGE][LARGE / 2] = 1;
  got[LONGER][39] = 1, got[LONGER][44] = 1;
  got[MAPPED][100] = 1;
  got[MAPPED_LARGE][300 * PAGE] = 1;
  got[MOVED][100] = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, maker, 0);
  pthread_create(&b, 0, user, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
