// One broadcast lets four threads read what was prepared.
// expect: no race
#include <pthread.h>

int x, ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *waiter(void *copy) {
  pthread_mutex_lock(&m);
  while (!ready) {
    pthread_cond_wait(&changed, &m);
  }
  pthread_mutex_unlock(&m);
  *(int *)copy = x;
  return 0;
}

int main(void) {
  pthread_t threads[4];
  int copies[4];
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], 0, waiter, &copies[i]);
  }
  x = 1;
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_mutex_unlock(&m);
  pthread_cond_broadcast(&changed);
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], 0);
    sum += copies[i];
  }
  return sum != 4;
}
