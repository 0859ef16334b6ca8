// A thread that does not get the lock tries again.
// expect: no race
#include <omp.h>
#include <sched.h>

int x;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  {
    while (!omp_test_lock(&lock)) {
      sched_yield();
    }
    x++;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  return x == 0;
}
