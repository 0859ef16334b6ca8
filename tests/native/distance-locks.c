// A hundred thousand critical sections, each thread with a lock of its own, hide no race.
// expect: race on x, lines 16 and 23
#include <pthread.h>

int x;
pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

void spend(pthread_mutex_t *lock) {
  for (int i = 0; i < 100000; i++) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
  }
}

void *early(void *unused) {
  x = 1;
  spend(&locks[0]);
  return unused;
}

void *late(void *unused) {
  spend(&locks[1]);
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, early, 0);
  pthread_create(&b, 0, late, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
