// A sequence lock whose data is atomic: a reader that saw a torn copy tries again.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_uint sequence;
atomic_int left, right;

void *writer(void *unused) {
  for (int i = 1; i <= 200; i++) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&left, i, memory_order_relaxed);
    atomic_store_explicit(&right, -i, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t a;
  int l, r, wrong = 0;
  pthread_create(&a, 0, writer, 0);
  do {
    unsigned before, after;
    do {
      before = atomic_load_explicit(&sequence, memory_order_acquire);
      l = atomic_load_explicit(&left, memory_order_relaxed);
      r = atomic_load_explicit(&right, memory_order_relaxed);
      atomic_thread_fence(memory_order_acquire);
      after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2);
    wrong |= l + r;
    sched_yield();
  } while (l != 200);
  pthread_join(a, 0);
  return wrong;
}
