// Tasks of a group add to copies of the sum, which the group combines.
// expect: no race
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
    sum++;
  }
  return sum != 781;
}
