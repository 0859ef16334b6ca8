// A cancelled thread is joined: what it did is ordered.
// expect: no race
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

int x;
sem_t begun;

void *worker(void *unused) {
  x = 1;
  sem_post(&begun);
  for (;;) {
    pause();
  }
  return unused;
}

int main(void) {
  pthread_t a;
  void *result;
  sem_init(&begun, 0, 0);
  pthread_create(&a, 0, worker, 0);
  sem_wait(&begun);
  pthread_cancel(a);
  pthread_join(a, &result);
  x++;
  return result != PTHREAD_CANCELED || x != 2;
}
