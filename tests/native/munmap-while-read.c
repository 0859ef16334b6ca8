// A thread unmaps what another has read, and nothing orders the two.
// expect: race on *, lines 11 and 20
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

char *map;
_Atomic int step;

static void *reader(void *unused) {
  volatile char byte = map[5];
  (void)byte;
  atomic_store_explicit(&step, 1, memory_order_relaxed);
  return unused;
}

static void *owner(void *unused) {
  while (!atomic_load_explicit(&step, memory_order_relaxed))
    ;
  munmap(map, 4096);
  return unused;
}

int main(void) {
  pthread_t a, b;
  map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, owner, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
