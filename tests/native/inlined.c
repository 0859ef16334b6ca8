// The racing accesses are in a function the compiler inlines.
// expect: race on x, lines 9 and 9
// options: -O2
#include <pthread.h>

int x;

static inline __attribute__((always_inline)) void set(int value) {
  x = value;
}

void *worker(void *unused) {
  set(1);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  set(2);
  pthread_join(a, 0);
}
