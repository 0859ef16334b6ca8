// A thread holds a lock across a barrier; the other one gets it after that.
// expect: no race
// threads: 2 4
#include <omp.h>
int x, y;
omp_lock_t l;
int main(void) {
  omp_init_lock(&l);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&l);
      x = 1;
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      x = 2;
      omp_unset_lock(&l);
    } else if (omp_get_thread_num() == 1) {
      omp_set_lock(&l);
      x = 3;
      omp_unset_lock(&l);
    }
  }
  return 0;
}
