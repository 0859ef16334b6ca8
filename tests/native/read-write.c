// One thread reads what another writes.
// expect: race on x, lines 8 and 13
#include <pthread.h>

int x, copy;

void *reader(void *unused) {
  copy = x;
  return unused;
}

void *writer(void *unused) {
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
