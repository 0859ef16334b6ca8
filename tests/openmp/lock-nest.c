// A nest lock is taken again by its owner.
// expect: no race
#include <omp.h>

int x;
omp_nest_lock_t lock;

void add(int depth) {
  omp_set_nest_lock(&lock);
  if (depth > 0) {
    add(depth - 1);
  }
  x++;
  omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
    add(2);
  }
  omp_destroy_nest_lock(&lock);
  return x != 150;
}
