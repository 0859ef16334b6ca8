// Read and write are in two critical sections: another thread may come between, but that is no data race.
// expect: no race
int x;

int main(void) {
#pragma omp parallel
  {
    int old;
#pragma omp critical
    old = x;
#pragma omp critical
    x = old + 1;
  }
  return x == 0;
}
