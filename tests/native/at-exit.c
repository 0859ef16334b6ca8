// An atexit handler runs in main's thread; the detached thread's write is not ordered before it.
// expect: race on x, lines 12 and 18
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

int x;
atomic_int done;

void *worker(void *unused) {
  x = 1;
  atomic_store_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

void at_end(void) {
  x = 2;
}

int main(void) {
  pthread_t a;
  atexit(at_end);
  pthread_create(&a, 0, worker, 0);
  pthread_detach(a);
  while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    sched_yield();
  }
  return 0;
}
