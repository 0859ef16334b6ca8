// A lock of OpenMP.
// expect: no race
#include <omp.h>

int x;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    omp_set_lock(&lock);
    x++;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  return x != 100;
}
