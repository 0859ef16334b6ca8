// A compare-and-exchange that fails only reads: it does not race with a plain read.
// expect: no race
#include <pthread.h>

int x = 1, sum;

void *reader(void *unused) {
  sum = x;
  return unused;
}

int main(void) {
  pthread_t a;
  int expected = 5;
  pthread_create(&a, 0, reader, 0);
  __atomic_compare_exchange_n(&x, &expected, 6, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  pthread_join(a, 0);
  return expected + sum != 2;
}
