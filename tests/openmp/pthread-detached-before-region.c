// A detached thread has ended before a region begins. That orders nothing, nor does the end of the region.
// expect: race on x, lines 12 and 23
// threads: 2 4
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

int x;
int seen[64];

static void *work(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_detach(thread);
  usleep(50000);
#pragma omp parallel
  seen[omp_get_thread_num()] = 1;
  x = 2;
}
