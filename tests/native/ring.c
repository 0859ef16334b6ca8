// A ring buffer for one producer and one consumer.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 8, ITEMS = 500 };
int ring[SIZE];
atomic_uint head, tail;

void *producer(void *unused) {
  for (unsigned i = 0; i < ITEMS; i++) {
    while (i - atomic_load_explicit(&tail, memory_order_acquire) == SIZE) {
      sched_yield();
    }
    ring[i % SIZE] = i;
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
    sum += ring[i % SIZE];
    atomic_store_explicit(&tail, i + 1, memory_order_release);
  }
  pthread_join(a, 0);
  return sum != ITEMS * (ITEMS - 1) / 2;
}
