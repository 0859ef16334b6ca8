// A thread writes whether it gets the lock or not.
// expect: race on x, lines 15 and 25
#include <omp.h>
#include <sched.h>

int x, is_locked;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    omp_set_lock(&lock);
    __atomic_store_n(&is_locked, 1, __ATOMIC_RELAXED);
    x = 1;
    while (__atomic_load_n(&is_locked, __ATOMIC_RELAXED) != 2) {
      sched_yield();
    }
    omp_unset_lock(&lock);
  } else if (omp_get_thread_num() == 1) {
    while (!__atomic_load_n(&is_locked, __ATOMIC_RELAXED)) {
      sched_yield();
    }
    int mine = omp_test_lock(&lock);
    x = 2;
    if (mine) {
      omp_unset_lock(&lock);
    }
    __atomic_store_n(&is_locked, 2, __ATOMIC_RELAXED);
  }
  omp_destroy_lock(&lock);
}
