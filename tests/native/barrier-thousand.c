// A thousand threads meet at a barrier, and each writes a place of its own.
// expect: no race
#include <pthread.h>

enum { THREADS = 1000 };
static int places[THREADS];
static pthread_barrier_t all;

static void *work(void *place) {
  pthread_barrier_wait(&all);
  ++*(int *)place;
  return 0;
}

int main(void) {
  static pthread_t threads[THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  pthread_barrier_init(&all, 0, THREADS);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], &small, work, &places[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  return places[THREADS - 1] != 1;
}
