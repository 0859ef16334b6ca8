// The taskwait after a single block waits for tasks of the thread that ran it only: others go on.
// expect: race on x, lines 12 and 15
// threads: 2 4 16
int x;
int seen[16];
#include <omp.h>
int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
#pragma omp task
    x = 1;
#pragma omp taskwait
    int number = omp_get_thread_num() % 16;
    seen[number] = x;
  }
}
