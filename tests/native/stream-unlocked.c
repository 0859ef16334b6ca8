// Functions that do not lock a stream leave that to the program.
// expect: race on *, lines 10 and 10
// options: -D_GNU_SOURCE -O0
#include <pthread.h>
#include <stdio.h>

FILE *stream;

static void *thread(void *unused) {
  fputs_unlocked("line\n", stream);
  return unused;
}

int main(void) {
  pthread_t a, b;
  stream = fopen("/dev/null", "w");
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
