// One write, many reads of it by the same thread, then an unordered read elsewhere.
// expect: race on x, lines 8 and 16
#include <pthread.h>

int x, copy, sum;

void *busy(void *unused) {
  x = 1;
  for (int i = 0; i < 1000; i++) {
    sum += *(volatile int *)&x;
  }
  return unused;
}

void *reader(void *unused) {
  copy = x;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, busy, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
