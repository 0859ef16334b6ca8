// Fibonacci numbers by tasks that are not waited for: the sum is made too early.
// expect: race on *, lines 16 and 19
// expect: race on *, lines 18 and 19
// threads: 1 2 4 16
int sum[8];

void fib(int n, int *result) {
  if (n < 2) {
    *result = n;
    return;
  }
  int a = 0, b = 0;
#pragma omp taskgroup
  {
#pragma omp task shared(a)
    a = n - 1;
#pragma omp task shared(b)
    b = n - 2;
    *result = a + b;
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  fib(7, &sum[7]);
}
