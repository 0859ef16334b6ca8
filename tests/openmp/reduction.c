// A sum by a reduction.
// expect: no race
int sum;

int main(void) {
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) {
    sum += i;
  }
  return sum != 499500;
}
