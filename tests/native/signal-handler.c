// A signal handler runs in the thread that got the signal: here it races with main.
// expect: race on x, lines 9 and 21
#include <pthread.h>
#include <signal.h>

int x;

void handler(int number) {
  x = number;
}

void *worker(void *unused) {
  raise(SIGUSR1);
  return unused;
}

int main(void) {
  pthread_t a;
  signal(SIGUSR1, handler);
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
}
