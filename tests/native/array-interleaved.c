// Two threads take turns on the elements of an array: odd ones here, even ones there.
// expect: no race
#include <pthread.h>

short array[64];

void *worker(void *first) {
  for (long i = (long)first; i < 64; i += 2) {
    array[i] += 1;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, (void *)0);
  pthread_create(&b, 0, worker, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
