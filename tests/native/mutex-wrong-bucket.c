// A table with a mutex for each bucket, and a thread that takes the neighbour's.
// expect: race on table[2], lines 11 and 18
#include <pthread.h>

int table[4];
pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

void *right(void *unused) {
  pthread_mutex_lock(&locks[2]);
  table[2]++;
  pthread_mutex_unlock(&locks[2]);
  return unused;
}

void *wrong(void *unused) {
  pthread_mutex_lock(&locks[1]);
  table[2]++;
  pthread_mutex_unlock(&locks[1]);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, right, 0);
  pthread_create(&b, 0, wrong, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
