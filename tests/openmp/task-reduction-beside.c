// What a reduction's tasks write besides the sum is shared.
// expect: race on last, lines 15 and 15
// threads: 1 2 4 16
int sum, last;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        sum += i;
        last = i;
      }
    }
  }
}
