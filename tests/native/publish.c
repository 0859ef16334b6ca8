// Publication as it should be: release on one side, acquire on the other.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *producer(void *unused) {
  data = 42;
  atomic_store_explicit(&ready, 1, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    sched_yield();
  }
  int seen = data;
  data = 0;
  pthread_join(a, 0);
  return seen != 42;
}
