// A loop is cancelled; the barrier at its end still holds.
// expect: no race
// environment: OMP_CANCELLATION=true
#include <omp.h>

int found, data[100], after;

int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) {
      data[i] = i;
      if (i == 30) {
#pragma omp atomic write
        found = i;
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
#pragma omp barrier
#pragma omp master
    after = data[30];
  }
  return found != 30 || after != 30;
}
