// A cache is filled outside its lock; a reader takes the lock later, and its section needs nothing of the writer's.
// expect: race on cache, lines 13 and 26
#include <pthread.h>

#include "schedule.h"

int cache;
int hits;
int refreshed;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *refresh(void *unused) {
  cache = 42;
  pthread_rwlock_wrlock(&lock);
  refreshed = 1;
  pthread_rwlock_unlock(&lock);
  pass(1);
  return unused;
}

void *look_up(void *unused) {
  wait_for(1);
  pthread_rwlock_wrlock(&lock);
  hits = 1;
  pthread_rwlock_unlock(&lock);
  return cache == 42 ? unused : &cache;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, refresh, 0);
  pthread_create(&b, 0, look_up, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
