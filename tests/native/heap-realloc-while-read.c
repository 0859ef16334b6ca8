// realloc moves a block away from under a reader.
// expect: race on heap block of 64 bytes, lines 13 and 27
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

int *block, *moved;
atomic_int was_read;
int copy;

void *reader(void *unused) {
  copy = block[0];
  atomic_store_explicit(&was_read, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  block = malloc(64);
  block[0] = 1;
  void *behind = malloc(64);
  pthread_create(&a, 0, reader, 0);
  while (!atomic_load_explicit(&was_read, memory_order_relaxed)) {
    sched_yield();
  }
  moved = realloc(block, 1 << 20);
  pthread_join(a, 0);
  free(behind);
}
