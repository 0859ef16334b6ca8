// A handler and the thread it interrupts are one thread: no race between them.
// expect: no race
#include <pthread.h>
#include <signal.h>

_Thread_local volatile sig_atomic_t count;
int calls[2];

void handler(int number) {
  count += number != 0;
}

void *worker(void *mine) {
  for (int i = 0; i < 100; i++) {
    ++*(int *)mine;
    raise(SIGUSR1);
  }
  *(int *)mine += count;
  return 0;
}

int main(void) {
  pthread_t a, b;
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, 0);
  pthread_create(&a, 0, worker, &calls[0]);
  pthread_create(&b, 0, worker, &calls[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return calls[0] != 200 || calls[1] != 200;
}
