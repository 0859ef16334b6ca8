// Locks inside each other: the inner one is common to both.
// expect: no race
#include <omp.h>

int x;
omp_lock_t outer[2], inner;

int main(void) {
  omp_init_lock(&outer[0]);
  omp_init_lock(&outer[1]);
  omp_init_lock(&inner);
#pragma omp parallel
  {
    omp_lock_t *mine = &outer[omp_get_thread_num() % 2];
    omp_set_lock(mine);
    omp_set_lock(&inner);
    x++;
    omp_unset_lock(&inner);
    omp_unset_lock(mine);
  }
  return x == 0;
}
