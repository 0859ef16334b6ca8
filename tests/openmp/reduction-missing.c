// A sum without a reduction.
// expect: race on sum, lines 8 and 8
int sum;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
    sum += i;
  }
}
