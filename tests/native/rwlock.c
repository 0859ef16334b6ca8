// Readers share the lock, the writer has it alone.
// expect: no race
#include <pthread.h>

int x, copies[2];
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

void *reader(void *copy) {
  for (int i = 0; i < 100; i++) {
    pthread_rwlock_rdlock(&l);
    *(int *)copy = x;
    pthread_rwlock_unlock(&l);
  }
  return 0;
}

void *writer(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_rwlock_wrlock(&l);
    x++;
    pthread_rwlock_unlock(&l);
  }
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, reader, &copies[0]);
  pthread_create(&b, 0, writer, 0);
  pthread_create(&c, 0, reader, &copies[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return x != 100;
}
