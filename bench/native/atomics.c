// kind: a ring buffer for one producer and one consumer, without locks.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 256, ITEMS = 3000000 };
static long ring[SIZE];
static atomic_ulong head, tail;

static void *produce(void *unused) {
  for (unsigned long i = 0; i < ITEMS; i++) {
    while (i - atomic_load_explicit(&tail, memory_order_acquire) == SIZE) {
      sched_yield();
    }
    ring[i % SIZE] = i;
    atomic_store_explicit(&head, i + 1, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t producer;
  long sum = 0;
  pthread_create(&producer, 0, produce, 0);
  for (unsigned long i = 0; i < ITEMS; i++) {
    while (atomic_load_explicit(&head, memory_order_acquire) == i) {
      sched_yield();
    }
    sum += ring[i % SIZE];
    atomic_store_explicit(&tail, i + 1, memory_order_release);
  }
  pthread_join(producer, 0);
  return sum != (long)ITEMS * (ITEMS - 1) / 2;
}
