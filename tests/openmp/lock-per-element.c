// A lock for each element.
// expect: no race
#include <omp.h>

int data[8];
omp_lock_t lock[8];

int main(void) {
  for (int i = 0; i < 8; i++) {
    omp_init_lock(&lock[i]);
  }
#pragma omp parallel for
  for (int i = 0; i < 400; i++) {
    omp_set_lock(&lock[i % 8]);
    data[i % 8]++;
    omp_unset_lock(&lock[i % 8]);
  }
  for (int i = 0; i < 8; i++) {
    omp_destroy_lock(&lock[i]);
  }
  return data[7] != 50;
}
