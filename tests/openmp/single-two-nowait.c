// Two single blocks without a barrier may be run by two threads at the same time.
// expect: race on x, lines 9 and 11
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    x = 1;
#pragma omp single nowait
    x = 2;
  }
}
