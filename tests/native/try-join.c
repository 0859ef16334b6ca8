// pthread_tryjoin_np and pthread_timedjoin_np order as pthread_join does when they succeed.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

int x;

void *writer(void *unused) {
  x++;
  return unused;
}

int main(void) {
  pthread_t a;
  struct timespec until = {0, 0};
  pthread_create(&a, 0, writer, 0);
  while (pthread_tryjoin_np(a, 0) != 0) {
    sched_yield();
  }
  x++;
  pthread_create(&a, 0, writer, 0);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  if (pthread_timedjoin_np(a, 0, &until) != 0) {
    return 1;
  }
  x++;
  return x != 4;
}
