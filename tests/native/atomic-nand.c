// __atomic_fetch_nand and __sync builtins, which order fully.
// expect: no race
// options: -Wno-sync-fetch-and-nand-semantics-changed
#include <pthread.h>
#include <sched.h>

int data, ready;

void *producer(void *unused) {
  data = 42;
  __sync_fetch_and_add(&ready, 2);
  __atomic_fetch_nand(&ready, 0, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  while (__sync_val_compare_and_swap(&ready, -1, 5) != -1) {
    sched_yield();
  }
  data++;
  pthread_join(a, 0);
  return data != 43 || ready != 5;
}
