// The byte goes through the pipe before the data is there.
// expect: race on x, lines 12 and 26
#include <pthread.h>
#include <unistd.h>

int x, ends[2];

void *producer(void *unused) {
  if (write(ends[1], "!", 1) != 1) {
    return &ends;
  }
  x = 42;
  return unused;
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
}
