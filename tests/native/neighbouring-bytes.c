// Eight threads write eight neighbouring bytes of one word.
// expect: no race
#include <pthread.h>

char bytes[8];

void *worker(void *byte) {
  for (int i = 0; i < 100; i++) {
    ++*(char *)byte;
  }
  return 0;
}

int main(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) {
    pthread_create(&threads[i], 0, worker, &bytes[i]);
  }
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], 0);
  }
  return 0;
}
