// A thread that waits for signals with sigwait, and a mutex around what it counts.
// expect: no race
#include <pthread.h>
#include <signal.h>

int count;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *watcher(void *argument) {
  int number = 0;
  while (number != SIGTERM) {
    sigwait(argument, &number);
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
  }
  return 0;
}

int main(void) {
  pthread_t a;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_create(&a, 0, watcher, &set);
  pthread_kill(a, SIGUSR1);
  int seen = 0;
  while (!seen) {
    pthread_mutex_lock(&m);
    seen = count;
    pthread_mutex_unlock(&m);
  }
  pthread_kill(a, SIGTERM);
  pthread_join(a, 0);
  return count != 2;
}
