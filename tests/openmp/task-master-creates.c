// The master creates the tasks; nobody waits for them before a thread reads what they write.
// expect: race on x, lines 13 and 16
#include <omp.h>

int x, seen;

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    {
#pragma omp task
      x = 1;
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      seen = x;
    }
  }
}
