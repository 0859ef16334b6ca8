// Relaxed increments of one counter do not race with each other.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>

atomic_long counter;

void *count(void *unused) {
  for (int i = 0; i < 1000; i++) {
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return counter != 2000;
}
