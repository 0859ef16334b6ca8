// A thread of the program's own has ended when the team meets at a barrier, but nobody has waited for it: what it did
// is not before what a member does after the barrier.
// expect: race on x, lines 11 and 24
// threads: 2 4
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

int x;
static void *work(void *unused) {
  x = 1;
  return unused;
}
int main(void) {
  pthread_t thread;
#pragma omp parallel
  {
#pragma omp masked
    {
      pthread_create(&thread, 0, work, 0);
      usleep(50000);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) x = 2;
  }
  pthread_join(thread, 0);
}
