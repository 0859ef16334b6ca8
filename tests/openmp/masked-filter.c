// Two masked blocks are run by different threads.
// expect: race on x, lines 9 and 11
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp masked
    x = 1;
#pragma omp masked filter(1)
    x = 2;
  }
}
