// Writing the same value twice is a race all the same.
// expect: race on x, lines 8 and 8
#include <pthread.h>

int x;

void *set(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, set, 0);
  pthread_create(&b, 0, set, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
