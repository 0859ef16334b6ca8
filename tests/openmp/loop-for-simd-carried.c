// A divided loop of vectors; iterations need those before them.
// expect: race on a, lines 9 and 9
// options: -O0
int a[500];

int main(void) {
#pragma omp parallel for simd safelen(4)
  for (int i = 4; i < 500; i++) {
    a[i] = a[i - 4] + 1;
  }
}
