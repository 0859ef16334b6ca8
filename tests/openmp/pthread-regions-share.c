// Two threads of the program's own have a region each, and share an array.
// expect: race on data, lines 10 and 10
#include <pthread.h>

int data[100];

void *fill(void *unused) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    data[i] = i;
  }
  return unused;
}

int main(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread[i], 0, fill, 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], 0);
  }
}
