// A reduction of an array.
// expect: no race
int bin[8];

int main(void) {
#pragma omp parallel for reduction(+ : bin)
  for (int i = 0; i < 1000; i++) {
    bin[i * 7 % 8]++;
  }
  return bin[0] != 125;
}
