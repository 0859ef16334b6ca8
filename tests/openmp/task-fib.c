// Fibonacci numbers by tasks.
// expect: no race
// threads: 1 2 4 16
int fib(int n) {
  if (n < 2) {
    return n;
  }
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(10);
  return result != 55;
}
