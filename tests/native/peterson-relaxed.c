// Peterson's lock with relaxed atomics orders nothing.
// expect: race on x, lines 20 and 20
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_int wants[2], turn;

#define SET(place, value) atomic_store_explicit(&place, value, memory_order_relaxed)
#define GET(place) atomic_load_explicit(&place, memory_order_relaxed)

void *worker(void *argument) {
  long me = (long)argument, other = 1 - me;
  SET(wants[me], 1);
  SET(turn, other);
  while (GET(wants[other]) && GET(turn) == other) {
    sched_yield();
  }
  x++;
  SET(wants[me], 0);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, (void *)0);
  pthread_create(&b, 0, worker, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
