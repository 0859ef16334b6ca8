// A fence on the reader's side alone orders nothing.
// expect: race on data, lines 11 and 23
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *producer(void *unused) {
  data = 42;
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) {
    sched_yield();
  }
  atomic_thread_fence(memory_order_acquire);
  data++;
  pthread_join(a, 0);
}
