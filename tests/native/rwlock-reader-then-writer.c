// What a reader read under the lock may be overwritten by the next writer.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x, copy;
atomic_int turn;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

void *reader(void *unused) {
  pthread_rwlock_rdlock(&l);
  copy = x;
  pthread_rwlock_unlock(&l);
  atomic_store_explicit(&turn, 1, memory_order_relaxed);
  return unused;
}

void *writer(void *unused) {
  while (!atomic_load_explicit(&turn, memory_order_relaxed)) {
    sched_yield();
  }
  pthread_rwlock_wrlock(&l);
  x = 1;
  pthread_rwlock_unlock(&l);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return copy != 0;
}
