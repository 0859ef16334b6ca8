// Atomics of one, two, four and eight bytes, every operation, side by side.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

_Atomic uint8_t one;
_Atomic uint16_t two;
_Atomic uint32_t four;
_Atomic uint64_t eight;

#define EACH(x)                   \
  atomic_fetch_add(&x, 3);        \
  atomic_fetch_sub(&x, 2);        \
  atomic_fetch_or(&x, 0);         \
  atomic_fetch_xor(&x, 0);        \
  atomic_fetch_and(&x, 0xff);

void *worker(void *unused) {
  for (int i = 0; i < 50; i++) {
    EACH(one)
    EACH(two)
    EACH(four)
    EACH(eight)
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return one != 100 || two != 100 || four != 100 || eight != 100;
}
