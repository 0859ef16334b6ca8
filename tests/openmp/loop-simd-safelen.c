// Vectors are shorter than the distance of the dependence.
// expect: no race
int a[500];

int main(void) {
#pragma omp simd safelen(8)
  for (int i = 8; i < 500; i++) {
    a[i] = a[i - 8] + 1;
  }
  return a[8] != 1;
}
