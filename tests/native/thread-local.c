// A thread's own variable, whose address another thread was given: main's, and that of a thread that main created.
// expect: race on *, lines 11 and 27
// expect: race on *, lines 18 and 31
#include <pthread.h>
#include <stdatomic.h>

static __thread int own;
static _Atomic(int *) given;

static void *writes(void *of_main) {
  *(int *)of_main = 1;
  return 0;
}

static void *gives(void *unused) {
  atomic_store_explicit(&given, &own, memory_order_relaxed);
  // Somebody else writes there, too.
  own = 3;
  while (atomic_load_explicit(&given, memory_order_relaxed))
    ;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writes, &own);
  own = 2;
  pthread_join(thread, 0);
  pthread_create(&thread, 0, gives, 0);
  while (!atomic_load_explicit(&given, memory_order_relaxed));
  *atomic_load_explicit(&given, memory_order_relaxed) = 4;
  atomic_store_explicit(&given, 0, memory_order_relaxed);
  pthread_join(thread, 0);
}
