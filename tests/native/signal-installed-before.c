// A handler reads what was written after it had been installed.
// expect: race on limit, lines 11 and 29
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int limit, seen;
static int ready;

void handle(int number) { seen += number + limit; }

void *worker(void *unused) {
  while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {
    usleep(100);
  }
  raise(SIGUSR1);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, 0);
  usleep(1000);
  limit = 5;
  __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
  pthread_join(a, 0);
  return 0;
}
