// Two threads only read; main wrote before it started them.
// expect: no race
#include <pthread.h>

int x, copies[2];

void *reader(void *copy) {
  *(int *)copy = x;
  return 0;
}

int main(void) {
  pthread_t a, b;
  x = 1;
  pthread_create(&a, 0, reader, &copies[0]);
  pthread_create(&b, 0, reader, &copies[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return copies[0] + copies[1] != 2;
}
