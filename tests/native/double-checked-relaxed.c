// Double-checked locking with relaxed atomics: who finds the instance made does not see it made.
// expect: race on value, lines 15 and 20
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int value;
atomic_int made;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int get(void) {
  if (!atomic_load_explicit(&made, memory_order_relaxed)) {
    pthread_mutex_lock(&m);
    if (!atomic_load_explicit(&made, memory_order_relaxed)) {
      value = 42;
      atomic_store_explicit(&made, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&m);
  }
  return value;
}

void *worker(void *unused) {
  return get() ? unused : &value;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  while (!atomic_load_explicit(&made, memory_order_relaxed)) {
    sched_yield();
  }
  pthread_create(&b, 0, worker, 0);
  pthread_join(b, 0);
  pthread_join(a, 0);
}
