// Joining one thread says nothing of the other.
// expect: race on y, lines 13 and 22
#include <pthread.h>

int x, y;

void *first(void *unused) {
  x = 1;
  return unused;
}

void *second(void *unused) {
  y = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  y += x;
  pthread_join(b, 0);
}
