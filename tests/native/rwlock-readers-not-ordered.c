// One reader's unlock does not order it before the next reader.
// expect: race on y, lines 12 and 27
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int x, y;
atomic_int turn;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

void *first(void *copy) {
  y = 1;
  pthread_rwlock_rdlock(&l);
  *(int *)copy = x;
  pthread_rwlock_unlock(&l);
  atomic_store_explicit(&turn, 1, memory_order_relaxed);
  return 0;
}

void *second(void *copy) {
  while (!atomic_load_explicit(&turn, memory_order_relaxed)) {
    sched_yield();
  }
  pthread_rwlock_rdlock(&l);
  *(int *)copy = x;
  pthread_rwlock_unlock(&l);
  y = 2;
  return 0;
}

int main(void) {
  pthread_t a, b;
  int copies[2];
  pthread_create(&a, 0, first, &copies[0]);
  pthread_create(&b, 0, second, &copies[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
