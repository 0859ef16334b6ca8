// A thread reads what a reduction combines before all have combined. With more than four threads, the runtime lets one
// thread, which happens to be the first, do that.
// expect: race on sum, lines 9 and 12
int sum, seen;

int main(void) {
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 100; i++) sum += i;
#pragma omp master
    seen = sum;
  }
  return seen < 0;
}
