// A freed block comes back to another thread, from which nothing orders it: new memory, no race.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

atomic_int done;

void *worker(void *unused) {
  for (int i = 0; i < 200; i++) {
    int *block = malloc(48);
    for (int j = 0; j < 12; j++) {
      block[j] = j;
    }
    free(block);
  }
  atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  for (int i = 0; i < 6; i++) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    pthread_detach(a);
    while (atomic_load_explicit(&done, memory_order_relaxed) <= i / 2) {
      usleep(100);
    }
  }
  while (atomic_load_explicit(&done, memory_order_relaxed) < 6) {
    usleep(100);
  }
  return 0;
}
