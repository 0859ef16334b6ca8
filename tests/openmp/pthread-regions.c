// Two threads of the program's own have a region each, and their own arrays.
// expect: no race
#include <pthread.h>

int data[2][100];

void *fill(void *array) {
  int *mine = array;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    mine[i] = i;
  }
  mine[0] = mine[99];
  return 0;
}

int main(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread[i], 0, fill, data[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], 0);
  }
  return data[1][0] != 99;
}
