// Two sections nest two locks, but the one around the write is not the same.
// expect: race on x, lines 16 and 25
#include <omp.h>

int x, y;
omp_lock_t left, right;

int main(void) {
  omp_init_lock(&left);
  omp_init_lock(&right);
#pragma omp parallel sections
  {
#pragma omp section
    {
      omp_set_lock(&left);
      x++;
      omp_set_lock(&right);
      y++;
      omp_unset_lock(&right);
      omp_unset_lock(&left);
    }
#pragma omp section
    {
      omp_set_lock(&right);
      x++;
      y++;
      omp_unset_lock(&right);
    }
  }
}
