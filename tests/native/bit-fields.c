// Neighbouring bit fields share a unit of memory: writing one rewrites the other.
// expect: race on flags, lines 11 and 16
#include <pthread.h>

struct {
  unsigned a : 3;
  unsigned b : 3;
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
}
