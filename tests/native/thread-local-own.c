// A thread-local variable is another one in each thread.
// expect: no race
#include <pthread.h>

_Thread_local int mine;

void *worker(void *unused) {
  for (int i = 0; i < 100; i++) {
    mine++;
  }
  return mine == 100 ? unused : &mine;
}

int main(void) {
  pthread_t a, b;
  void *results[2];
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  mine--;
  pthread_join(a, &results[0]);
  pthread_join(b, &results[1]);
  return results[0] != 0 || results[1] != 0;
}
