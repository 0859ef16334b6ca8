// A compare-and-exchange that fails with acquire orders.
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
  int zero = 0;
  while (atomic_compare_exchange_strong_explicit(&ready, &zero, 0, memory_order_acq_rel,
                                                 memory_order_acquire)) {
    sched_yield();
  }
  data++;
  pthread_join(a, 0);
  return data != 43;
}
