// hard: one atomic counter, hit by four threads.
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 1500000 };
static atomic_long counter;

static void *work(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    atomic_fetch_add(&counter, 1);
  }
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  return counter != THREADS * ROUNDS;
}
