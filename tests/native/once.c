// pthread_once orders what it ran before everyone who came by.
// expect: no race
#include <pthread.h>

int x, copies[3];
pthread_once_t once = PTHREAD_ONCE_INIT;

void prepare(void) {
  x = 1;
}

void *worker(void *copy) {
  pthread_once(&once, prepare);
  *(int *)copy = x;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    pthread_create(&threads[i], 0, worker, &copies[i]);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], 0);
  }
  return copies[0] + copies[1] + copies[2] != 3;
}
