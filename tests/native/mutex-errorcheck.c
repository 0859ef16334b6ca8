// An error-checking mutex: the second lock by its owner fails and changes nothing.
// expect: no race
#include <errno.h>
#include <pthread.h>

int x, wrong;
pthread_mutex_t m;

void *count(void *unused) {
  pthread_mutex_lock(&m);
  if (pthread_mutex_lock(&m) != EDEADLK) {
    wrong = 1;
  }
  x++;
  pthread_mutex_unlock(&m);
  if (pthread_mutex_unlock(&m) != EPERM) {
    return &wrong;
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  void *results[2];
  pthread_mutexattr_t checked;
  pthread_mutexattr_init(&checked);
  pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&m, &checked);
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, &results[0]);
  pthread_join(b, &results[1]);
  return x != 2 || wrong || results[0] || results[1];
}
