// A constructor function starts a thread before main begins: main is not ordered after it.
// expect: race on x, lines 9 and 18
#include <pthread.h>

int x;
pthread_t early;

void *worker(void *unused) {
  x = 1;
  return unused;
}

__attribute__((constructor)) void start(void) {
  pthread_create(&early, 0, worker, 0);
}

int main(void) {
  x = 2;
  pthread_join(early, 0);
}
