// Whatever order the threads took the lock in, the write before it is not protected; nothing flows through the sections.
// expect: race on x, lines 12 and 20
#include <omp.h>

int x, y, z;
omp_lock_t lock;

int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    x = 1;
    omp_set_lock(&lock);
    y++;
    omp_unset_lock(&lock);
  } else if (omp_get_thread_num() == 1) {
    omp_set_lock(&lock);
    z++;
    omp_unset_lock(&lock);
    x = 2;
  }
  omp_destroy_lock(&lock);
}
