// A pthread_mutex_timedlock that ran out of time protects nothing.
// expect: race on x, lines 12 and 21
#include <pthread.h>
#include <time.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *impatient(void *unused) {
  struct timespec until = {1, 0};
  if (pthread_mutex_timedlock(&m, &until) != 0) {
    x = 1;
  }
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_mutex_lock(&m);
  pthread_create(&a, 0, impatient, 0);
  x = 2;
  pthread_join(a, 0);
  pthread_mutex_unlock(&m);
}
