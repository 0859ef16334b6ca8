// An atomic store races with a plain read of the same place.
// expect: race on x, lines 8 and 13
#include <pthread.h>

int x, copy;

void *writer(void *unused) {
  __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
  return unused;
}

void *reader(void *unused) {
  copy = x;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
