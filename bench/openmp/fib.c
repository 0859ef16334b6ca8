// tasks: a tree of tiny ones, each waiting for two.
#include <stdio.h>

static long fib(int n) {
  if (n < 2) return n;
  long a, b;
  #pragma omp task shared(a)
  a = fib(n - 1);
  #pragma omp task shared(b)
  b = fib(n - 2);
  #pragma omp taskwait
  return a + b;
}

int main(void) {
  long result;
  #pragma omp parallel
  #pragma omp single
  result = fib(24);
  printf("%ld\n", result);
}
