// A lock made of compare-and-exchange.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_int l;

void *count(void *unused) {
  for (int i = 0; i < 100; i++) {
    int free = 0;
    while (!atomic_compare_exchange_weak_explicit(&l, &free, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
      free = 0;
      sched_yield();
    }
    x++;
    atomic_store_explicit(&l, 0, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 200;
}
