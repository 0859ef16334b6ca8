// A pointer loaded with memory_order_consume, whose target is then read.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
_Atomic(int *) published;

void *producer(void *unused) {
  data = 42;
  atomic_store_explicit(&published, &data, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t a;
  int *seen = 0;
  pthread_create(&a, 0, producer, 0);
  while (!seen) {
    sched_yield();
    seen = atomic_load_explicit(&published, memory_order_consume);
  }
  int value = *seen;
  pthread_join(a, 0);
  return value != 42;
}
