// pthread_join writes what the thread has returned, where another thread may be reading.
// expect: race on result, lines 14 and 20
#include <pthread.h>

void *result;
void *copy;
pthread_barrier_t both;

static void *idle(void *unused) { return unused; }
static void *waits(void *unused) {
  pthread_t thread;
  pthread_create(&thread, 0, idle, 0);
  pthread_barrier_wait(&both);
  pthread_join(thread, &result);
  return unused;
}

static void *reads(void *unused) {
  pthread_barrier_wait(&both);
  copy = result;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, waits, 0);
  pthread_create(&b, 0, reads, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
