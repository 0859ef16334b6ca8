// The same in a single block, whose end is a barrier.
// expect: no race
#include <omp.h>
#include <pthread.h>

int x, seen[16];
static void *work(void *unused) {
  x = 1;
  return unused;
}
int main(void) {
#pragma omp parallel
  {
#pragma omp single
    {
      pthread_t thread;
      pthread_create(&thread, 0, work, 0);
      pthread_join(thread, 0);
    }
    seen[omp_get_thread_num() % 16] = x;
  }
  return seen[0] != 1;
}
