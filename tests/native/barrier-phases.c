// One barrier used a hundred times: in even phases one thread writes, in odd ones the other.
// expect: no race
#include <pthread.h>

int x;
pthread_barrier_t meeting;

void *worker(void *argument) {
  long me = (long)argument;
  for (int phase = 0; phase < 100; phase++) {
    if (phase % 2 == me) {
      x++;
    }
    pthread_barrier_wait(&meeting);
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&meeting, 0, 2);
  pthread_create(&a, 0, worker, (void *)0);
  pthread_create(&b, 0, worker, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 100;
}
