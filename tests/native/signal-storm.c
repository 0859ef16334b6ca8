// A timer interrupts threads that lock, allocate and print: nothing hangs, nothing races.
// expect: no race
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>

int x;
atomic_int alarms;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void handler(int number) {
  (void)number;
  atomic_fetch_add(&alarms, 1);
}

void *worker(void *unused) {
  while (atomic_load(&alarms) < 50) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    int *block = malloc(16);
    *block = 1;
    free(block);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 1000}, {0, 1000}};
  sigaction(SIGALRM, &action, 0);
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  setitimer(ITIMER_REAL, &every, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, 0);
  return x == 0;
}
