// A thread-local variable whose address another thread has is shared like any other.
// expect: race on *, lines 8 and 15
#include <pthread.h>

_Thread_local int mine;

void *worker(void *address) {
  *(int *)address = 1;
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, &mine);
  mine = 2;
  pthread_join(a, 0);
}
