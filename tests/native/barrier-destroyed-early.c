// One of those who met at a barrier destroys it while the other may still be on its way out.
// expect: race on barrier, lines 8 and 15
#include <pthread.h>

pthread_barrier_t barrier;

void *visitor(void *unused) {
  return pthread_barrier_wait(&barrier), unused;
}

int main(void) {
  pthread_t a;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&a, 0, visitor, 0);
  pthread_barrier_wait(&barrier), pthread_barrier_destroy(&barrier);
  pthread_join(a, 0);
  return 0;
}
