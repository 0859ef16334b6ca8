// The creator holds a lock while it creates a task; the task does not.
// expect: race on x, lines 14 and 17
// options: -O0
#include <omp.h>
int x;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    x = 1;
    omp_set_lock(&lock);
#pragma omp task
    x = 2;
    omp_unset_lock(&lock);
#pragma omp taskwait
  }
}
