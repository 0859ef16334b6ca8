// _exit runs no handlers: the report comes all the same.
// expect: race on x, lines 9 and 16
#include <pthread.h>
#include <unistd.h>

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
  _exit(0);
}
