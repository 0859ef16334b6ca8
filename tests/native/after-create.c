// What the creator does after pthread_create is not ordered with the thread.
// expect: race on x, lines 8 and 15
#include <pthread.h>

int x;

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
}
