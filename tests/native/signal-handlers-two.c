// Handlers in two threads write the same variable.
// expect: race on last, lines 11 and 11
#include <pthread.h>
#include <signal.h>

int last;

void handler(int number, siginfo_t *information, void *context) {
  (void)information;
  (void)context;
  last = number;
}

void *worker(void *unused) {
  raise(SIGUSR2);
  return unused;
}

int main(void) {
  pthread_t a, b;
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR2, &action, 0);
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
