// A single block may be run by another thread than the masked one before it.
// expect: race on x, lines 9 and 11
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp masked
    x = 1;
#pragma omp single
    x = 2;
  }
}
