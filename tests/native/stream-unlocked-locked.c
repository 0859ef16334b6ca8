// The program locks a stream itself.
// expect: no race
// options: -D_GNU_SOURCE -O0
#include <pthread.h>
#include <stdio.h>

FILE *stream;

static void *thread(void *unused) {
  for (int i = 0; i < 5; i++) {
    flockfile(stream);
    fputs_unlocked("line", stream);
    putc_unlocked('\n', stream);
    funlockfile(stream);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  stream = fopen("/dev/null", "w");
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  fclose(stream);
}
