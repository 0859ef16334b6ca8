// A detached thread is never joined; seeing that it is done by a relaxed flag orders nothing.
// expect: race on x, lines 11 and 23
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_int done;

void *writer(void *unused) {
  x = 1;
  atomic_store_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  pthread_detach(a);
  while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    sched_yield();
  }
  x = 2;
}
