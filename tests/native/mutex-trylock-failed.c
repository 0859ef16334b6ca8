// A pthread_mutex_trylock that failed protects nothing.
// expect: race on x, lines 10 and 19
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *impatient(void *unused) {
  if (pthread_mutex_trylock(&m) != 0) {
    x = 1;
  }
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_mutex_lock(&m);
  pthread_create(&a, 0, impatient, 0);
  x = 2;
  pthread_join(a, 0);
  pthread_mutex_unlock(&m);
}
