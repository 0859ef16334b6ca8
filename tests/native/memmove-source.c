// memmove reads what another thread writes.
// expect: race on source[3], lines 9 and 16
#include <pthread.h>
#include <string.h>

char source[40], target[40];

void *mover(void *length) {
  memmove(target, source, (long)length);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, mover, (void *)40);
  source[3] = 1;
  pthread_join(a, 0);
}
