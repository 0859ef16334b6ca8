// The thread that pthread_barrier_wait chose writes while the other already reads.
// expect: race on x, lines 10 and 12
#include <pthread.h>

int x, copy;
pthread_barrier_t meeting;

void *worker(void *unused) {
  if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD) {
    x = 1;
  } else {
    copy = x;
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&meeting, 0, 2);
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
