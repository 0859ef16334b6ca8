// A sum without a reduction.
// expect: race on sum, lines 9 and 9
// options: -O0
int sum;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
    sum += i;
  }
}
