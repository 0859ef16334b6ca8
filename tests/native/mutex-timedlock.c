// pthread_mutex_timedlock and pthread_mutex_clocklock order when they succeed.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  if (pthread_mutex_timedlock(&m, &until) == 0) {
    x++;
    pthread_mutex_unlock(&m);
  }
  return unused;
}

void *second(void *unused) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 60;
  if (pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until) == 0) {
    x++;
    pthread_mutex_unlock(&m);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 2;
}
