// A lock of OpenMP keeps tasks and chunks apart.
// expect: no race
#include <omp.h>
static omp_lock_t lock;
static int count;
int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < 4; i++)
#pragma omp task
    {
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
#pragma omp for schedule(guided)
    for (int i = 0; i < 28; i++) {
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
  }
  return count != 32;
}
