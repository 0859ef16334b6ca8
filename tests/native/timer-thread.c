// A timer calls a function on threads of the C library's own, whose stacks are small.
// expect: no race
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

sem_t fired;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long x;

void fire(union sigval unused) {
  pthread_mutex_lock(&mutex);
  x++;
  pthread_mutex_unlock(&mutex);
  sem_post(&fired);
}

int main(void) {
  sem_init(&fired, 0, 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer)) {
    return 1;
  }
  struct itimerspec time = {{0, 1000000}, {0, 1000000}};
  timer_settime(timer, 0, &time, 0);
  for (int i = 0; i < 5; i++) {
    sem_wait(&fired);
    pthread_mutex_lock(&mutex);
    x++;
    pthread_mutex_unlock(&mutex);
  }
  timer_delete(timer);
  return 0;
}
