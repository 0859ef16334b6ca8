// A divided loop of vectors with a function for vectors.
// expect: no race
float a[500], b[500];

#pragma omp declare simd
float twice(float x) { return x + x; }

int main(void) {
#pragma omp parallel for simd
  for (int i = 0; i < 500; i++) {
    a[i] = twice(i + b[i]);
  }
  return a[499] != 998;
}
