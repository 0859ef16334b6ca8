// A maximum without a reduction: all threads compare with it and write it.
// expect: race on largest, lines 8 and 8
int largest;

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 300; i++) {
    if (i > largest) largest = i;
  }
}
