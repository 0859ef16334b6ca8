// A function with a divided loop adds to a global sum by a reduction.
// expect: no race
int sum, data[100];

void total(void) {
#pragma omp for reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    sum += data[i] + 1;
  }
}

int main(void) {
#pragma omp parallel
  {
    total();
    total();
  }
  return sum != 200;
}
