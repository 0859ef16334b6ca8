// After pthread_once both threads go on writing.
// expect: race on x, lines 14 and 14
#include <pthread.h>

int x;
pthread_once_t once = PTHREAD_ONCE_INIT;

void prepare(void) {
  x = 1;
}

void *worker(void *unused) {
  pthread_once(&once, prepare);
  x += 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
