// Five readers are joined before the write; a sixth is not.
// expect: race on x, lines 8 and 22
#include <pthread.h>

int x, copies[6];

void *reader(void *copy) {
  *(int *)copy = x;
  return 0;
}

int main(void) {
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) {
    pthread_create(&threads[i], 0, reader, &copies[i]);
  }
  for (int i = 0; i < 6; i++) {
    if (i != 3) {
      pthread_join(threads[i], 0);
    }
  }
  x = 1;
  pthread_join(threads[3], 0);
}
