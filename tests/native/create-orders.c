// What the creator did before pthread_create happens before the thread.
// expect: no race
#include <pthread.h>

int x;

void *reader(void *unused) {
  x += 1;
  return unused;
}

int main(void) {
  pthread_t a;
  x = 1;
  pthread_create(&a, 0, reader, 0);
  pthread_join(a, 0);
  return 0;
}
