// A thread of the program's own writes a variable while a region does.
// expect: race on x, lines 9 and 18
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
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    x = 2;
  }
  pthread_join(thread, 0);
}
