// Six threads read, then one that none of them is ordered with writes.
// expect: race on x, lines 11 and 20
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x, copies[6];
atomic_int read;

void *reader(void *copy) {
  *(int *)copy = x;
  atomic_fetch_add_explicit(&read, 1, memory_order_relaxed);
  return 0;
}

void *writer(void *unused) {
  while (atomic_load_explicit(&read, memory_order_relaxed) < 6) {
    sched_yield();
  }
  x = 1;
  return unused;
}

int main(void) {
  pthread_t threads[7];
  for (int i = 0; i < 6; i++) {
    pthread_create(&threads[i], 0, reader, &copies[i]);
  }
  pthread_create(&threads[6], 0, writer, 0);
  for (int i = 0; i < 7; i++) {
    pthread_join(threads[i], 0);
  }
}
