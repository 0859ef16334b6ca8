// A sequence lock around plain data: the reader's copy races with the next update.
// expect: race on data, lines 13 and 33
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data, copy;
atomic_uint sequence;
atomic_int copied;

void update(int value) {
  atomic_fetch_add(&sequence, 1);
  data = value;
  atomic_fetch_add(&sequence, 1);
}

void *writer(void *unused) {
  update(1);
  while (!atomic_load_explicit(&copied, memory_order_relaxed)) {
    sched_yield();
  }
  update(2);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  // The first update is over: only the second can race with the copy.
  while (atomic_load(&sequence) != 2) {
    sched_yield();
  }
  copy = data;
  atomic_store_explicit(&copied, 1, memory_order_relaxed);
  pthread_join(a, 0);
}
