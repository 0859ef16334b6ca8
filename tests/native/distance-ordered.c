// A handover by a mutex, half a million sections before the value is used.
// expect: no race
#include <pthread.h>

int x, ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

void *giver(void *unused) {
  x = 1;
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_mutex_unlock(&m);
  return unused;
}

void *taker(void *unused) {
  int seen = 0;
  while (!seen) {
    pthread_mutex_lock(&m);
    seen = ready;
    pthread_mutex_unlock(&m);
  }
  for (int i = 0; i < 500000; i++) {
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
  }
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, giver, 0);
  pthread_create(&b, 0, taker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 2;
}
