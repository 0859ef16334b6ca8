// sem_trywait and sem_timedwait order when they succeed.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

int x;
sem_t first, second;

void *producer(void *unused) {
  x = 1;
  sem_post(&first);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  if (sem_timedwait(&second, &until) == 0) {
    x++;
  }
  return unused;
}

int main(void) {
  pthread_t a;
  sem_init(&first, 0, 0);
  sem_init(&second, 0, 0);
  pthread_create(&a, 0, producer, 0);
  while (sem_trywait(&first) != 0) {
    sched_yield();
  }
  x++;
  sem_post(&second);
  pthread_join(a, 0);
  return x != 3;
}
