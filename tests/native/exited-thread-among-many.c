// A write by a thread that exited three hundred threads ago still races.
// expect: race on x, lines 8 and 18
#include <pthread.h>

int x, y;

void *first(void *unused) {
  x = 1;
  return unused;
}

void *between(void *unused) {
  y++;
  return unused;
}

void *last(void *unused) {
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  for (int i = 0; i < 300; i++) {
    pthread_create(&b, 0, between, 0);
    pthread_join(b, 0);
  }
  pthread_create(&b, 0, last, 0);
  pthread_join(b, 0);
  pthread_join(a, 0);
}
