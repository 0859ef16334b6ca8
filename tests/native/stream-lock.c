// A stream's own lock keeps threads apart.
// expect: no race
#include <pthread.h>
#include <stdio.h>

long x;

void *work(void *unused) {
  for (int i = 0; i < 100; i++) {
    flockfile(stderr);
    x++;
    funlockfile(stderr);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
