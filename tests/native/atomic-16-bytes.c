// A pair of pointers exchanged in one atomic operation of sixteen bytes.
// expect: no race
// options: -mcx16
// compiler: clang
#include <pthread.h>

__int128 pair;

void *count(void *unused) {
  for (int i = 0; i < 100; i++) {
    __int128 old = __atomic_load_n(&pair, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&pair, &old, old + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return pair != 200;
}
