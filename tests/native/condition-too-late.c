// The producer writes after it has said that all is ready.
// expect: race on x, lines 14 and 26
#include <pthread.h>

int x, ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *producer(void *unused) {
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&m);
  x = 42;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  pthread_mutex_lock(&m);
  while (!ready) {
    pthread_cond_wait(&changed, &m);
  }
  pthread_mutex_unlock(&m);
  x++;
  pthread_join(a, 0);
}
