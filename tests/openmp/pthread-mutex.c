// Threads of a region and one of the program's own use the same mutex.
// expect: no race
#include <pthread.h>

int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *add(void *unused) {
  pthread_mutex_lock(&mutex);
  x++;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, add, 0);
#pragma omp parallel
  add(0);
  pthread_join(thread, 0);
  return x < 2;
}
