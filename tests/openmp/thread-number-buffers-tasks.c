// Tasks of chunks use the buffer of the chunk's thread, by its number; each chunk waits for its tasks.
// expect: no race
#include <omp.h>
int buffer[64], total;
int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 32; i++) {
      int me = omp_get_thread_num() % 64;
#pragma omp task
      buffer[me] += i;
#pragma omp taskwait
    }
  }
  for (int i = 0; i < 64; i++) total += buffer[i];
  return total != 496;
}
