// A destructor of thread-specific data runs in the thread, before it can be joined: here it races.
// expect: race on x, lines 9 and 21
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
  x = 2;
  pthread_join(a, 0);
}
