// Tasks of a group add to copies of an array.
// expect: no race
// threads: 1 2 4 16
int sum[10];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : sum)
      for (int k = 0; k < 10; k++) {
        sum[k] += i;
      }
    }
  }
  return sum[9] != 780;
}
