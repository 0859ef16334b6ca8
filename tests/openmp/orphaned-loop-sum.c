// A function with a divided loop adds to a global sum.
// expect: race on sum, lines 8 and 8
int sum, data[100];

void total(void) {
#pragma omp for
  for (int i = 0; i < 100; i++) {
    sum += data[i];
  }
}

int main(void) {
#pragma omp parallel
  total();
}
