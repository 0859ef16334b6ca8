// A lock for each element, but two elements share none.
// expect: race on data, lines 15 and 15
#include <omp.h>

int data[4];
omp_lock_t lock[8];

int main(void) {
  for (int i = 0; i < 8; i++) {
    omp_init_lock(&lock[i]);
  }
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 64; i++) {
    omp_set_lock(&lock[i % 8]);
    data[i % 4]++;
    omp_unset_lock(&lock[i % 8]);
  }
  for (int i = 0; i < 8; i++) {
    omp_destroy_lock(&lock[i]);
  }
}
