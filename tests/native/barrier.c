// Each writes its own cell, all meet at the barrier, each reads its neighbour's.
// expect: no race
#include <pthread.h>

enum { THREADS = 4 };
int cells[THREADS], sums[THREADS];
pthread_barrier_t meeting;

void *worker(void *argument) {
  long me = (long)argument;
  cells[me] = 1;
  pthread_barrier_wait(&meeting);
  sums[me] = cells[me] + cells[(me + 1) % THREADS];
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  int sum = 0;
  pthread_barrier_init(&meeting, 0, THREADS);
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, worker, (void *)i);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
    sum += sums[i];
  }
  pthread_barrier_destroy(&meeting);
  return sum != 2 * THREADS;
}
