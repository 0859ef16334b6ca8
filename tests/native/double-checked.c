// Double-checked locking with an acquire load and a release store.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) instance;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int *get(void) {
  int *seen = atomic_load_explicit(&instance, memory_order_acquire);
  if (!seen) {
    pthread_mutex_lock(&m);
    seen = atomic_load_explicit(&instance, memory_order_relaxed);
    if (!seen) {
      seen = malloc(sizeof(int));
      *seen = 42;
      atomic_store_explicit(&instance, seen, memory_order_release);
    }
    pthread_mutex_unlock(&m);
  }
  return seen;
}

void *worker(void *unused) {
  return *get() == 42 ? unused : &instance;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  free(instance);
  return 0;
}
