// Chunks update under a mutex of the program's own.
// expect: no race
#include <pthread.h>

int sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    pthread_mutex_lock(&mutex);
    sum += i;
    pthread_mutex_unlock(&mutex);
  }
  return sum != 2016;
}
