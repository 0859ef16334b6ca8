// The flag is stored, with release, before the data.
// expect: race on data, lines 12 and 22
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *producer(void *unused) {
  atomic_store_explicit(&ready, 1, memory_order_release);
  data = 42;
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
}
