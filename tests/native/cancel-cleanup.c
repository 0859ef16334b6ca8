// A clean-up handler runs in the cancelled thread, while main goes on.
// expect: race on x, lines 12 and 31
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

int x;
sem_t begun;

void clean_up(void *unused) {
  (void)unused;
  x = 1;
}

void *worker(void *unused) {
  pthread_cleanup_push(clean_up, 0);
  sem_post(&begun);
  for (;;) {
    pause();
  }
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t a;
  sem_init(&begun, 0, 0);
  pthread_create(&a, 0, worker, 0);
  sem_wait(&begun);
  pthread_cancel(a);
  x = 2;
  pthread_join(a, 0);
}
