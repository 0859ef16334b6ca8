// A taskloop of vectors.
// expect: no race
// threads: 1 2 4 16
float a[512], b[512];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop simd
    for (int i = 0; i < 512; i++) {
      a[i] = i;
    }
#pragma omp taskloop simd
    for (int i = 0; i < 512; i++) {
      b[i] = 2 * a[511 - i];
    }
  }
  return b[0] != 1022;
}
