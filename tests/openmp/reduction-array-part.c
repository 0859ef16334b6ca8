// A reduction of a part of an array; the iterations also touch an element outside of it.
// expect: race on bin, lines 10 and 10
// options: -O0
int bin[8], *last = &bin[7];

int main(void) {
#pragma omp parallel for reduction(+ : bin[0 : 7])
  for (int i = 0; i < 1000; i++) {
    bin[i % 7]++;
    ++*last;
  }
}
