// A ring buffer whose consumer gives slots back with a relaxed store: the producer overwrites what is read.
// expect: race on ring, lines 16 and 30
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ITEMS = 100 };
int ring[1];
atomic_uint head, tail;

void *producer(void *unused) {
  for (unsigned i = 0; i < ITEMS; i++) {
    while (i - atomic_load_explicit(&tail, memory_order_acquire) == 1) {
      sched_yield();
    }
    ring[0] = i;
    atomic_store_explicit(&head, i + 1, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t a;
  int sum = 0;
  pthread_create(&a, 0, producer, 0);
  for (unsigned i = 0; i < ITEMS; i++) {
    while (atomic_load_explicit(&head, memory_order_acquire) == i) {
      sched_yield();
    }
    sum += ring[0];
    atomic_store_explicit(&tail, i + 1, memory_order_relaxed);
  }
  pthread_join(a, 0);
  return sum < 0;
}
