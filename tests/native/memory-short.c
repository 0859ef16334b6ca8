// What is short is copied, set and compared in place of a call: gcc does so after it has instrumented.
// expect: race on colour, lines 13 and 23
// expect: race on key, lines 14 and 24
// expect: race on name, lines 15 and 25
// expect: race on head, lines 16 and 26
// options: -O2
#include <pthread.h>
#include <string.h>

char colour[3], key[24], name[16], head[8], other[24];

static void *one(void *unused) {
  memset(colour, 7, 3);
  memcpy(key, other, 24);
  strcpy(name, "worker");
  memmove(head + 1, other, 4);
  return unused;
}

static void *two(void *unused) {
  // gcc would make one number of the whole.
  volatile char *at = other;
  colour[2] = 1;
  key[23] = *at;
  strcpy(name, "main");
  head[4] = *at;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
