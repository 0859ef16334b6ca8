// The end of a parallel region comes before the next one.
// expect: no race
int data[100];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    data[i] = i;
  }
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    data[99 - i] *= 2;
  }
  int sum = 0;
  for (int i = 0; i < 100; i++) {
    sum += data[i];
  }
  return sum != 9900;
}
