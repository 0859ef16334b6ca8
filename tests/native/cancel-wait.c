// A thread cancelled in pthread_cond_wait has the mutex again in its clean-up handler.
// expect: no race
#include <pthread.h>

int x, waiting;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void clean_up(void *unused) {
  (void)unused;
  x++;
  pthread_mutex_unlock(&m);
}

void *worker(void *unused) {
  pthread_mutex_lock(&m);
  pthread_cleanup_push(clean_up, 0);
  waiting = 1;
  for (;;) {
    pthread_cond_wait(&never, &m);
  }
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t a;
  int seen = 0;
  pthread_create(&a, 0, worker, 0);
  while (!seen) {
    pthread_mutex_lock(&m);
    seen = waiting;
    x++;
    pthread_mutex_unlock(&m);
  }
  pthread_cancel(a);
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  pthread_join(a, 0);
  return 0;
}
