// Who fails to get a lock has not learnt what its holder did before: a failed test implies no flush.
// expect: race on x, lines 12 and 16
#include <omp.h>

omp_lock_t lock;
int x, seen;

int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    x = 1;
    omp_set_lock(&lock);
  } else {
    while (omp_test_lock(&lock)) omp_unset_lock(&lock);
    seen = x;
  }
  return seen != 1;
}
