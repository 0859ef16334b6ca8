// Two threads use different locks.
// expect: race on x, lines 14 and 18
#include <omp.h>

int x;

int main(void) {
  omp_lock_t left, right;
  omp_init_lock(&left);
  omp_init_lock(&right);
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    omp_set_lock(&left);
    x++;
    omp_unset_lock(&left);
  } else if (omp_get_thread_num() == 1) {
    omp_set_lock(&right);
    x++;
    omp_unset_lock(&right);
  }
  omp_destroy_lock(&left);
  omp_destroy_lock(&right);
}
