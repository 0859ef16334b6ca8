// A nested lock is taken again by a function.
// expect: no race
#include <omp.h>
int done[4], n;
omp_nest_lock_t l;
void add(int k) { omp_set_nest_lock(&l); n += k; omp_unset_nest_lock(&l); }
int main(void) {
  omp_init_nest_lock(&l);
#pragma omp parallel num_threads(4)
  {
    omp_set_nest_lock(&l);
    add(1); add(2);
    omp_unset_nest_lock(&l);
#pragma omp barrier
#pragma omp single
    done[0] = n;
  }
  return done[0] != 12;
}
