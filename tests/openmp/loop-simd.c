// Vectors of one thread do not race.
// expect: no race
float a[500], b[500], sum;

int main(void) {
#pragma omp simd
  for (int i = 0; i < 500; i++) {
    a[i] = i;
    b[i] = 2 * i;
  }
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < 500; i++) {
    sum += b[i] - 2 * a[i];
  }
  return sum != 0;
}
