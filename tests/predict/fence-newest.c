// Of two releases of a thread that a fence reaches, the newer one counts, whichever was loaded last.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>

atomic_int older, newer, updated;
int one, other;

static void *tells(void *unused) {
  atomic_store_explicit(&older, 1, memory_order_release);
  one = 1;
  atomic_store_explicit(&newer, 2, memory_order_release);
  atomic_thread_fence(memory_order_release);
  other = 1;
  atomic_fetch_add_explicit(&updated, 1, memory_order_release);
  atomic_fetch_add_explicit(&updated, 1, memory_order_relaxed);
  return unused;
}

static void *hears(void *unused) {
  while (atomic_load_explicit(&newer, memory_order_relaxed) != 2)
    ;
  atomic_load_explicit(&older, memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  one = 2;
  while (atomic_load_explicit(&updated, memory_order_relaxed) != 2)
    ;
  atomic_thread_fence(memory_order_acquire);
  other = 2;
  return unused;
}

int main(void) {
  pthread_t teller, hearer;
  pthread_create(&teller, 0, tells, 0);
  pthread_create(&hearer, 0, hears, 0);
  pthread_join(teller, 0);
  pthread_join(hearer, 0);
}
