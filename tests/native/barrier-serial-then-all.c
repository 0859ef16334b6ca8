// The thread that pthread_barrier_wait chose writes, and a second barrier lets the others read.
// expect: no race
#include <pthread.h>

int x, copies[3];
pthread_barrier_t meeting;

void *worker(void *copy) {
  if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD) {
    x = 1;
  }
  pthread_barrier_wait(&meeting);
  *(int *)copy = x;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&meeting, 0, 3);
  for (int i = 0; i < 3; i++) {
    pthread_create(&threads[i], 0, worker, &copies[i]);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], 0);
  }
  return copies[0] + copies[1] + copies[2] != 3;
}
