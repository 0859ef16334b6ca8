// A thread has exited before the other one starts, but was not joined: nothing orders them.
// expect: race on x, lines 11 and 17
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int x;
atomic_int done;

void *first(void *unused) {
  x = 1;
  atomic_store_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

void *second(void *unused) {
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    usleep(1000);
  }
  usleep(20000);
  pthread_create(&b, 0, second, 0);
  pthread_join(b, 0);
  pthread_join(a, 0);
}
