// hard: a table that eight threads read all the time and one changes now and then, under a reader-writer lock.
#include <pthread.h>

enum { THREADS = 8, SIZE = 4096, ROUNDS = 600 };
static long table[SIZE];
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *argument) {
  long sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (argument && round % 20 == 0) {
      pthread_rwlock_wrlock(&l);
      table[round]++;
    } else {
      pthread_rwlock_rdlock(&l);
    }
    for (int i = 0; i < SIZE; i++) {
      sum += table[i];
    }
    pthread_rwlock_unlock(&l);
  }
  return (void *)sum;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, (void *)(long)(i == 0));
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  return table[0] != 1;
}
