// A thread writes into main's frame, and main does not wait.
// expect: race on *, lines 6 and 14
#include <pthread.h>

void *worker(void *address) {
  *(int *)address = 1;
  return 0;
}

int main(void) {
  pthread_t a;
  volatile int local = 0;
  pthread_create(&a, 0, worker, (void *)&local);
  local = 2;
  pthread_join(a, 0);
}
