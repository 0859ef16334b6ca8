// A parallel region with a reduction for its tasks.
// expect: no race
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
  }
  return sum != 780;
}
