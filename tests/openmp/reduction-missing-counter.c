// One of two sums has a reduction, the other has been forgotten.
// expect: race on odd, lines 11 and 11
int even, odd;

int main(void) {
#pragma omp parallel for reduction(+ : even)
  for (int i = 0; i < 1000; i++) {
    if (i % 3 == 0) {
      even++;
    } else if (i % 3 == 1) {
      odd++;
    }
  }
}
