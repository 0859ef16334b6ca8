// A block is freed by one thread although another's read of it is not ordered before.
// expect: race on heap block of 16 bytes, lines 13 and 26
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

int *block;
atomic_int was_read;
int copy;

void *reader(void *unused) {
  copy = block[0];
  atomic_store_explicit(&was_read, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  block = malloc(16);
  block[0] = 1;
  pthread_create(&a, 0, reader, 0);
  while (!atomic_load_explicit(&was_read, memory_order_relaxed)) {
    sched_yield();
  }
  free(block);
  pthread_join(a, 0);
}
