// A thread of the program's own, created and joined by one member of the team, writes what others read after a barrier.
// expect: no race
#include <pthread.h>

int x, seen[16];
static void *work(void *unused) {
  x = 1;
  return unused;
}
#include <omp.h>
int main(void) {
#pragma omp parallel
  {
#pragma omp master
    {
      pthread_t thread;
      pthread_create(&thread, 0, work, 0);
      pthread_join(thread, 0);
    }
#pragma omp barrier
    seen[omp_get_thread_num() % 16] = x;
  }
  return seen[0] != 1;
}
