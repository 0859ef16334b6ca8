// The owner of a robust mutex ends without unlocking; who gets it next sees what the owner did.
// expect: no race
#include <errno.h>
#include <pthread.h>

int x;
pthread_mutex_t m;

void *owner(void *unused) {
  pthread_mutex_lock(&m);
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &robust);
  pthread_create(&a, 0, owner, 0);
  int status = 0;
  while (status == 0) {
    status = pthread_mutex_lock(&m);
    if (status == 0) {
      pthread_mutex_unlock(&m);
    }
  }
  x++;
  pthread_mutex_consistent(&m);
  pthread_mutex_unlock(&m);
  pthread_join(a, 0);
  return status != EOWNERDEAD || x != 2;
}
