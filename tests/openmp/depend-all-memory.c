// A task that depends on all memory comes after every sibling that has a dependence, and before every later one.
// expect: no race
// threads: 1 2 4 16
int a, b, c;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a)
    a = 1;
#pragma omp task depend(in : b)
    b = 2;
#pragma omp task depend(inout : omp_all_memory)
    c = a + b;
#pragma omp task depend(in : a)
    a += c;
#pragma omp task depend(in : b)
    b += c;
  }
  return a != 4 || b != 5;
}
