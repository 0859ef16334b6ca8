// A thread calls exit after the race: the report comes all the same.
// expect: race on x, lines 13 and 24
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int x;
atomic_int written;

void *worker(void *unused) {
  x = 1;
  while (!atomic_load_explicit(&written, memory_order_relaxed)) {
    sched_yield();
  }
  exit(0);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  atomic_store_explicit(&written, 1, memory_order_relaxed);
  for (;;) {
    pause();
  }
}
