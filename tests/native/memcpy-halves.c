// Two threads copy into two halves of one buffer, from one source.
// expect: no race
#include <pthread.h>
#include <string.h>

char source[101], buffer[101];

void *low(void *length) {
  memcpy(buffer, source, (long)length);
  return 0;
}

void *high(void *length) {
  memcpy(buffer + 51, source, (long)length);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, low, (void *)51);
  pthread_create(&b, 0, high, (void *)50);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
