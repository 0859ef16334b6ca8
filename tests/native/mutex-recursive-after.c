// After the last unlock of a recursive mutex nothing is protected.
// expect: race on x, lines 13 and 24
#include <pthread.h>

int x;
pthread_mutex_t m;

void *worker(void *unused) {
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  pthread_mutex_unlock(&m);
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &recursive);
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
}
