// printf from several threads: the stream has a lock of its own.
// expect: no race
#include <pthread.h>
#include <stdio.h>

void *worker(void *name) {
  for (int i = 0; i < 20; i++) {
    printf("%s %d\n", (char *)name, i);
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, "a");
  pthread_create(&b, 0, worker, "b");
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
