// A nest lock is released as often as it was taken before the second write.
// expect: race on y, lines 17 and 17
#include <omp.h>

int x, y;
omp_nest_lock_t lock;

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel
  {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    x++;
    omp_unset_nest_lock(&lock);
    y++;
  }
  omp_destroy_nest_lock(&lock);
}
