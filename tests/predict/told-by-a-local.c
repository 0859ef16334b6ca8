// A thread waits for what another writes to its stack: clang does not tell of the read, and nothing may be predicted for want
// of it.
// expect: no race
#include <pthread.h>

#include "schedule.h"

struct waiter {
  int number;
  int done;
};

int result;
struct waiter *waiting;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *work(void *unused) {
  wait_for(1);
  result = 2;
  pthread_mutex_lock(&lock);
  waiting->done = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t a;
  struct waiter own = {1, 0};
  pthread_create(&a, 0, work, 0);
  pthread_mutex_lock(&lock);
  waiting = &own;
  pass(1);
  while (!own.done) {
    pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  result = 1;
  pthread_join(a, 0);
}
