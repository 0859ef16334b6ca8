// Critical sections with the same name in two functions exclude each other.
// expect: no race
#include <omp.h>

int x;

void add(void) {
#pragma omp critical(sum)
  x++;
}

void subtract(void) {
#pragma omp critical(sum)
  x--;
}

int main(void) {
#pragma omp parallel
  {
    add();
    subtract();
  }
  return x != 0;
}
