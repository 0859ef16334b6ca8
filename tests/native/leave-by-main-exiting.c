// main ends itself with pthread_exit and the others go on.
// expect: race on x, lines 8 and 8
#include <pthread.h>

int x;

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_exit(0);
}
