// pthread_join waits for destructors of thread-specific data, too.
// expect: no race
#include <pthread.h>

int x;
pthread_key_t key;

void at_end(void *value) {
  *(int *)value = 1;
}

void *worker(void *unused) {
  pthread_setspecific(key, &x);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_key_create(&key, at_end);
  pthread_create(&a, 0, worker, 0);
  pthread_join(a, 0);
  x++;
  return x != 2;
}
