// The tasks of a taskloop are undeferred: they run one after the other.
// expect: no race
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop if (0)
    for (int i = 0; i < 100; i++) {
      sum += i;
    }
  }
  return sum != 4950;
}
