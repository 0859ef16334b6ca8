// Two hundred threads at once, each in its own slot; main adds up after joining all.
// expect: no race
#include <pthread.h>

enum { THREADS = 200 };
int slots[THREADS];

void *worker(void *slot) {
  *(int *)slot = 1;
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  int sum = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, worker, &slots[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
    sum += slots[i];
  }
  return sum != THREADS;
}
