// Chunks of a dynamic loop update under a lock that the thread takes anew each time.
// expect: no race
#include <omp.h>

int sum;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    omp_set_lock(&lock);
    sum += i;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  return sum != 2016;
}
