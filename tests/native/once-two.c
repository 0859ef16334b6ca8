// Two once controls for one variable: each thread runs its own.
// expect: race on x, lines 9 and 9
#include <pthread.h>

int x;
pthread_once_t controls[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};

void prepare(void) {
  x = 1;
}

void *worker(void *once) {
  pthread_once(once, prepare);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, &controls[0]);
  pthread_create(&b, 0, worker, &controls[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
