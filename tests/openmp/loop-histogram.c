// Iterations count in shared bins.
// expect: race on bin, lines 8 and 8
int bin[8];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
    bin[i * 7 % 8]++;
  }
}
