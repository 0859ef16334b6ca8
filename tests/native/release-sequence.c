// A relaxed read-modify-write by another thread continues a release sequence.
// expect: no race
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
  atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, 0);
  pthread_create(&b, 0, between, 0);
  while (atomic_load_explicit(&stage, memory_order_acquire) != 2) {
    sched_yield();
  }
  data++;
  pthread_join(a, 0);
  pthread_join(b, 0);
  return data != 43;
}
