// memset clears a byte too many.
// expect: race on buffer[16], lines 9 and 16
#include <pthread.h>
#include <string.h>

char buffer[32];

void *clearer(void *length) {
  memset(buffer, 1, (long)length);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, clearer, (void *)17);
  buffer[16] = 2;
  pthread_join(a, 0);
}
