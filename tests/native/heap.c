// Two threads write one block of the heap.
// expect: race on point.y, lines 12 and 20
#include <pthread.h>
#include <stdlib.h>

struct point {
  long x, y, z;
};

void *worker(void *argument) {
  struct point *point = argument;
  point->y = 1;
  return 0;
}

int main(void) {
  pthread_t a;
  struct point *point = malloc(sizeof *point);
  pthread_create(&a, 0, worker, point);
  point->y = 2;
  pthread_join(a, 0);
  free(point);
}
