// sigaction reads what it is given, which another thread may be writing.
// expect: race on action, lines 12 and 18
#include <pthread.h>
#include <signal.h>

struct sigaction action;
pthread_barrier_t both;

static void handle(int number) { (void)number; }
static void *installs(void *unused) {
  pthread_barrier_wait(&both);
  sigaction(SIGUSR1, &action, 0);
  return unused;
}

static void *changes(void *unused) {
  pthread_barrier_wait(&both);
  action.sa_handler = handle;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, installs, 0);
  pthread_create(&b, 0, changes, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
