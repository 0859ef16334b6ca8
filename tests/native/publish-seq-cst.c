// Publication with the default order of C11 atomics.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *producer(void *unused) {
  data = 42;
  ready = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (!ready) {
    sched_yield();
  }
  data++;
  pthread_join(a, 0);
  return data != 43;
}
