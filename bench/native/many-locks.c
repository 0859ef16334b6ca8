// hard: 10,000 locks, each around one cell, taken by four threads.
#include <pthread.h>

enum { LOCKS = 10000, ROUNDS = 60 };
static pthread_mutex_t locks[LOCKS];
static long cells[LOCKS];

static void *work(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < LOCKS; i++) {
      pthread_mutex_lock(&locks[i]);
      cells[i]++;
      pthread_mutex_unlock(&locks[i]);
    }
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < LOCKS; i++) {
    pthread_mutex_init(&locks[i], 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], 0, work, 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], 0);
  }
  return cells[LOCKS - 1] != 4 * ROUNDS;
}
