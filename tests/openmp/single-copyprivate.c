// One thread reads a value, and all get a copy.
// expect: no race
#include <omp.h>

int input = 5, sum;

int main(void) {
#pragma omp parallel
  {
    int value;
#pragma omp single copyprivate(value)
    value = input++;
#pragma omp atomic
    sum += value;
    value = 0;
  }
  return input != 6 || sum == 0;
}
