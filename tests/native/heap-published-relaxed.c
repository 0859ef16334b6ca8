// A pointer to a fresh block travels through a relaxed atomic: its contents race.
// expect: race on long[0], lines 12 and 24
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(long *) shared;

void *producer(void *unused) {
  long *fresh = malloc(32);
  fresh[0] = 42;
  atomic_store_explicit(&shared, fresh, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  long *seen;
  pthread_create(&a, 0, producer, 0);
  while (!(seen = atomic_load_explicit(&shared, memory_order_acquire))) {
    sched_yield();
  }
  seen[0]++;
  pthread_join(a, 0);
}
