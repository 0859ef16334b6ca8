// Critical sections and locks with hints.
// expect: no race
#include <omp.h>
int n;
omp_lock_t l;
int main(void) {
  omp_init_lock_with_hint(&l, omp_sync_hint_contended);
#pragma omp parallel
  {
#pragma omp critical(name) hint(omp_sync_hint_uncontended)
    n++;
#pragma omp barrier
    omp_set_lock(&l);
    n++;
    omp_unset_lock(&l);
  }
  omp_destroy_lock(&l);
  return n < 2;
}
