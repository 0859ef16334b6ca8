// A second barrier is missing: a thread may write for the next phase while its neighbour still reads.
// expect: race on data, lines 12 and 14
#include <omp.h>

int data[16], copy[16];

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int phase = 0; phase < 5; phase++) {
      data[me] = me + phase;
#pragma omp barrier
      copy[me] = data[(me + 1) % all];
    }
  }
}
