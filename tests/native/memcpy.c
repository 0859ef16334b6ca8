// memcpy writes the whole buffer, another thread reads one byte of it.
// expect: race on buffer, lines 9 and 16
#include <pthread.h>
#include <string.h>

char source[100], buffer[100], copy;

void *copier(void *length) {
  memcpy(buffer, source, (long)length);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, copier, (void *)100);
  copy = buffer[57];
  pthread_join(a, 0);
}
