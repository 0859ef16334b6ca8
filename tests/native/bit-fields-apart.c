// A bit field of width zero starts a new unit: nothing is shared.
// expect: no race
#include <pthread.h>

struct {
  unsigned char a : 3;
  unsigned char : 0;
  unsigned char b : 3;
} flags;

void *first(void *unused) {
  flags.a = 1;
  return unused;
}

void *second(void *unused) {
  flags.b = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return flags.a + flags.b != 2;
}
