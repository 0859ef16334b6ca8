// Both write in the same phase.
// expect: race on x, lines 10 and 17
#include <pthread.h>

int x;
pthread_barrier_t meeting;

void *first(void *unused) {
  pthread_barrier_wait(&meeting);
  x = 1;
  pthread_barrier_wait(&meeting);
  return unused;
}

void *second(void *unused) {
  pthread_barrier_wait(&meeting);
  x = 2;
  pthread_barrier_wait(&meeting);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&meeting, 0, 2);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
