// Volatile is not synchronisation: neither the flag nor what it announces is ordered.
// expect: race on ready, lines 12 and 19
// expect: race on data, lines 11 and 22
#include <pthread.h>
#include <sched.h>

int data;
volatile int ready;

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
}
