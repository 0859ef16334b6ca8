// A program closes all descriptors that it may have, the checker's among them.
// expect: race on x, lines 11 and 11
// options: -D_GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int x;

static void *thread(void *unused) {
  x++;
  return unused;
}

int main(void) {
  pthread_t a, b;
  for (int file = 3; file < 1024; file++)
    close(file);
  closefrom(3);
  close_range(3, ~0U, 0);
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
