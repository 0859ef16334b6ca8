// The value is checked before the critical section, without it.
// expect: race on x, lines 8 and 10
int x;

int main(void) {
#pragma omp parallel
  {
    if (x < 10000) {
#pragma omp critical
      x++;
    }
  }
}
