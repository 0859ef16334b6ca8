// A thread of the program's own is joined before the region.
// expect: no race
#include <omp.h>
#include <pthread.h>

int x;

void *write_x(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, write_x, 0);
  pthread_join(thread, 0);
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    x = 2;
  }
  pthread_create(&thread, 0, write_x, 0);
  pthread_join(thread, 0);
  return x != 1;
}
