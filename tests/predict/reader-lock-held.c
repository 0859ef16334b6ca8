// The same with the cache filled and read under the lock.
// expect: no race
#include <pthread.h>

#include "schedule.h"

int cache;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *refresh(void *unused) {
  pthread_rwlock_wrlock(&lock);
  cache = 42;
  pthread_rwlock_unlock(&lock);
  pass(1);
  return unused;
}

void *look_up(void *unused) {
  wait_for(1);
  pthread_rwlock_rdlock(&lock);
  int known = cache;
  pthread_rwlock_unlock(&lock);
  return known == 42 ? unused : &cache;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, refresh, 0);
  pthread_create(&b, 0, look_up, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
