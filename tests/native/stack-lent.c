// A thread writes into main's frame, and main waits for it before it returns.
// expect: no race
#include <pthread.h>

void *worker(void *address) {
  *(int *)address = 1;
  return 0;
}

int call(void) {
  pthread_t a;
  int local = 0;
  pthread_create(&a, 0, worker, &local);
  pthread_join(a, 0);
  return local;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 10; i++) {
    sum += call();
  }
  return sum != 10;
}
