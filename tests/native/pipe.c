// A byte through a pipe: what was written before write happens before what follows read.
// expect: no race
#include <pthread.h>
#include <unistd.h>

int x, ends[2];

void *producer(void *unused) {
  x = 42;
  return write(ends[1], "!", 1) == 1 ? unused : &x;
}

int main(void) {
  pthread_t a;
  char byte;
  if (pipe(ends) != 0) {
    return 1;
  }
  pthread_create(&a, 0, producer, 0);
  if (read(ends[0], &byte, 1) != 1) {
    return 1;
  }
  x++;
  pthread_join(a, 0);
  return x != 43;
}
