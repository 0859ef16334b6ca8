// Peterson's lock with sequentially consistent atomics.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_int wants[2], turn;

void *worker(void *argument) {
  long me = (long)argument, other = 1 - me;
  for (int i = 0; i < 50; i++) {
    wants[me] = 1;
    turn = other;
    while (wants[other] && turn == other) {
      sched_yield();
    }
    x++;
    wants[me] = 0;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, (void *)0);
  pthread_create(&b, 0, worker, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 100;
}
