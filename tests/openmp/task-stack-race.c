// Two tasks write to a variable in their creator's frame.
// expect: race on *, lines 10 and 12
// threads: 1 2 4 16
int main(void) {
#pragma omp parallel
#pragma omp single
  {
    int sum = 0;
#pragma omp task shared(sum)
    sum += 1;
#pragma omp task shared(sum)
    sum += 2;
#pragma omp taskwait
  }
}
