// hard: 1,000 threads at once.
#include <pthread.h>

enum { THREADS = 1000 };
static long cells[THREADS], total;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static void *work(void *cell) {
  pthread_barrier_wait(&all);
  for (int i = 0; i < 100; i++) {
    ++*(long *)cell;
  }
  pthread_mutex_lock(&m);
  total += *(long *)cell;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  static pthread_t threads[THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  pthread_barrier_init(&all, 0, THREADS);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], &small, work, &cells[i])) {
      return 2;
    }
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  return total != 100 * THREADS;
}
