// Tasks of a group add to one sum; none of them says that it takes part in a reduction.
// expect: race on sum, lines 13 and 13
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 40; i++) {
#pragma omp task
      sum += i;
    }
  }
}
