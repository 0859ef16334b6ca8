// Two threads hold the lock for reading, and write.
// expect: race on x, lines 10 and 10
#include <pthread.h>

int x;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

void *pretender(void *unused) {
  pthread_rwlock_rdlock(&l);
  x = 1;
  pthread_rwlock_unlock(&l);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, pretender, 0);
  pthread_create(&b, 0, pretender, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
