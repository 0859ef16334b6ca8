// A lock made of atomic_flag.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x;
atomic_flag l = ATOMIC_FLAG_INIT;

void *count(void *unused) {
  for (int i = 0; i < 100; i++) {
    while (atomic_flag_test_and_set_explicit(&l, memory_order_acquire)) {
      sched_yield();
    }
    x++;
    atomic_flag_clear_explicit(&l, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 200;
}
