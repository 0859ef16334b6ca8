// pthread_cond_timedwait and pthread_cond_clockwait release and take the mutex, also when they time out.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

int x, ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *producer(void *unused) {
  pthread_mutex_lock(&m);
  x++;
  ready = 1;
  pthread_mutex_unlock(&m);
  return unused;
}

int main(void) {
  pthread_t a;
  struct timespec until;
  pthread_create(&a, 0, producer, 0);
  pthread_mutex_lock(&m);
  for (int turn = 0; !ready; turn++) {
    clockid_t clock = turn % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    clock_gettime(clock, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    x++;
    if (turn % 2) {
      pthread_cond_clockwait(&changed, &m, clock, &until);
    } else {
      pthread_cond_timedwait(&changed, &m, &until);
    }
  }
  x++;
  pthread_mutex_unlock(&m);
  pthread_join(a, 0);
  return 0;
}
