// Two threads write a global and nothing orders them.
// expect: race on x, lines 8 and 13
#include <pthread.h>

int x;

void *first(void *unused) {
  x = 1;
  return unused;
}

void *second(void *unused) {
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
