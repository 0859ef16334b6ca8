// A thread calls exit after the race: the report comes all the same.
// expect: race on x, lines 10 and 19
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int x;

void *worker(void *unused) {
  x = 1;
  exit(0);
  return unused;
}

int main(void) {
  pthread_t a;
  x = 0;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  for (;;) {
    pause();
  }
}
