// The second write comes after the lock is released.
// expect: race on y, lines 15 and 15
#include <omp.h>

int x, y;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  {
    omp_set_lock(&lock);
    x++;
    omp_unset_lock(&lock);
    y++;
  }
  omp_destroy_lock(&lock);
}
