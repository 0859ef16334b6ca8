// An atomic load and a plain read do not conflict.
// expect: no race
#include <pthread.h>

int x = 1;

void *atomic_one(void *unused) {
  return __atomic_load_n(&x, __ATOMIC_RELAXED) == 1 ? unused : &x;
}

void *plain_one(void *unused) {
  return x == 1 ? unused : &x;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, atomic_one, 0);
  pthread_create(&b, 0, plain_one, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
