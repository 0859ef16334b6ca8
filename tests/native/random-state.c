// All threads share the state of drand48.
// expect: race on state of drand48, lines 8 and 8
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused) {
  volatile double number;
  number = drand48();
  (void)number;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
