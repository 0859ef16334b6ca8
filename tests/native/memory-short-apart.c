// Short copies end where they say.
// expect: no race
// options: -O2
#include <pthread.h>
#include <stdint.h>
#include <string.h>

char key[24], other[24];

static void *one(void *unused) {
  memcpy(key, other, 12);
  memset(other + 13, 1, 5);
  return unused;
}

static void *two(void *unused) {
  uint32_t number;
  memcpy(key + 12, other, 12);
  memcpy(&number, other + 3, 4);
  memcpy(other + 18, &number, 4);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
