// Locks inside each other: the write is in the outer one only, of which each thread has another.
// expect: race on x, lines 16 and 16
#include <omp.h>

int x, y;
omp_lock_t outer[2], inner;

int main(void) {
  omp_init_lock(&outer[0]);
  omp_init_lock(&outer[1]);
  omp_init_lock(&inner);
#pragma omp parallel
  {
    omp_lock_t *mine = &outer[omp_get_thread_num() % 2];
    omp_set_lock(mine);
    x++;
    omp_set_lock(&inner);
    y++;
    omp_unset_lock(&inner);
    omp_unset_lock(mine);
  }
}
