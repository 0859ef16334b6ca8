// pthread_create writes the new thread's handle, which another thread may be reading.
// expect: race on handle, lines 11 and 17
#include <pthread.h>

pthread_t handle;
pthread_barrier_t both;

static void *idle(void *unused) { return unused; }
static void *creator(void *unused) {
  pthread_barrier_wait(&both);
  pthread_create(&handle, 0, idle, 0);
  return unused;
}
static void *watcher(void *result) {
  pthread_barrier_wait(&both);
  pthread_t *seen = result;
  *seen = handle;
  return 0;
}

int main(void) {
  pthread_t a, b, seen;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, creator, 0);
  pthread_create(&b, 0, watcher, &seen);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(handle, 0);
}
