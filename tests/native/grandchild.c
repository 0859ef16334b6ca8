// Joining a thread does not join the threads it left behind.
// expect: race on x, lines 9 and 22
#include <pthread.h>

int x;
pthread_t grandchild;

void *inner(void *unused) {
  x = 1;
  return unused;
}

void *outer(void *unused) {
  pthread_create(&grandchild, 0, inner, 0);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, outer, 0);
  pthread_join(a, 0);
  x = 2;
  pthread_join(grandchild, 0);
}
