// The threads meet at two barriers, but not with each other.
// expect: race on x, lines 9 and 16
#include <pthread.h>

int x;
pthread_barrier_t one, two;

void *first(void *unused) {
  x = 1;
  pthread_barrier_wait(&one);
  return unused;
}

void *second(void *unused) {
  pthread_barrier_wait(&two);
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&one, 0, 1);
  pthread_barrier_init(&two, 0, 1);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
