// A lock whose unlock is a relaxed store excludes, but does not order.
// expect: race on x, lines 17 and 17
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_int l;

void *once(void *unused) {
  int free = 0;
  while (!atomic_compare_exchange_strong_explicit(&l, &free, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
    free = 0;
    sched_yield();
  }
  x++;
  atomic_store_explicit(&l, 0, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, once, 0);
  pthread_create(&b, 0, once, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
