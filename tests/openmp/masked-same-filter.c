// Two masked blocks are run by the same thread.
// expect: no race
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp masked filter(1)
    x = 1;
#pragma omp masked filter(1)
    x++;
  }
  return x != 2;
}
