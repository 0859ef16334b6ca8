// What was written before a handler was installed is read in the handler, on another thread.
// expect: no race
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int limit, ceiling, sum;
static int installed;

void add_limit(int number) { sum += limit; }
void add_ceiling(int number) { sum += ceiling; }

void *worker(void *unused) {
  while (!__atomic_load_n(&installed, __ATOMIC_RELAXED)) {
    usleep(100);
  }
  raise(SIGUSR1);
  raise(SIGUSR2);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = add_limit;
  limit = 5;
  sigaction(SIGUSR1, &action, 0);
  ceiling = 7;
  signal(SIGUSR2, add_ceiling);
  __atomic_store_n(&installed, 1, __ATOMIC_RELAXED);
  pthread_join(a, 0);
  return sum != 12;
}
