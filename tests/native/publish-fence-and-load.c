// A release fence before a relaxed store pairs with an acquire load.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *producer(void *unused) {
  data = 42;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    sched_yield();
  }
  data++;
  pthread_join(a, 0);
  return data != 43;
}
