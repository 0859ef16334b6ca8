// A mutex is destroyed and another made in its place; what the old one ordered stays ordered.
// expect: no race
#include <pthread.h>

int x;
pthread_mutex_t m;

void *count(void *unused) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    pthread_t a, b;
    pthread_mutex_init(&m, 0);
    pthread_create(&a, 0, count, 0);
    pthread_create(&b, 0, count, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_mutex_destroy(&m);
  }
  return x != 20;
}
