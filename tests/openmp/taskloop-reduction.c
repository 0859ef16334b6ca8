// A taskloop with a reduction.
// expect: no race
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < 1000; i++) {
      sum += i;
    }
    sum++;
  }
  return sum != 499501;
}
