// A program that orders by means of its own says so with __tsan_release and __tsan_acquire.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

int x;
atomic_int ready;

void *producer(void *unused) {
  x = 42;
  __tsan_release(&ready);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) {
    sched_yield();
  }
  __tsan_acquire(&ready);
  x++;
  pthread_join(a, 0);
  return x != 43;
}
