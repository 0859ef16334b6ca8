// A static local variable is one for all threads.
// expect: race on count, lines 7 and 7
#include <pthread.h>

void *worker(void *unused) {
  static int count;
  return count++ > 9 ? &count : unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
