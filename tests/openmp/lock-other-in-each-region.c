// Each of two parallel regions has a lock of its own: they do not run at the same time.
// expect: no race
#include <omp.h>

int x;
omp_lock_t left, right;

int main(void) {
  omp_init_lock(&left);
  omp_init_lock(&right);
#pragma omp parallel
  {
    omp_set_lock(&left);
    x++;
    omp_unset_lock(&left);
  }
#pragma omp parallel
  {
    omp_set_lock(&right);
    x++;
    omp_unset_lock(&right);
  }
  return x == 0;
}
