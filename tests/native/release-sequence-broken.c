// A relaxed store by another thread ends a release sequence.
// expect: race on data, lines 11 and 33
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int stage;

void *producer(void *unused) {
  data = 42;
  atomic_store_explicit(&stage, 1, memory_order_release);
  return unused;
}

void *between(void *unused) {
  while (atomic_load_explicit(&stage, memory_order_relaxed) != 1) {
    sched_yield();
  }
  atomic_store_explicit(&stage, 2, memory_order_relaxed);
  return unused;
}

void *consumer(void *unused) {
  int seen = 0;
  while (seen != 2) {
    sched_yield();
    // Only the value 2 is acquired: 1 would order.
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 2) {
      seen = atomic_load_explicit(&stage, memory_order_acquire);
    }
  }
  data++;
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, producer, 0);
  pthread_create(&b, 0, between, 0);
  pthread_create(&c, 0, consumer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
}
