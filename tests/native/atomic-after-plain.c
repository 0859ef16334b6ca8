// A thread writes a variable plainly and then stores to it with release: who acquires that comes after both.
// expect: no race
#include <pthread.h>

int loaded, updated, is_done;

void *writer(void *unused) {
  loaded = 1;
  updated = 1;
  __atomic_store_n(&loaded, 2, __ATOMIC_RELEASE);
  __atomic_store_n(&updated, 2, __ATOMIC_RELEASE);
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED)) {
  }
  int sum = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
  sum += __atomic_fetch_add(&updated, 1, __ATOMIC_SEQ_CST);
  pthread_join(a, 0);
  return sum != 4;
}
