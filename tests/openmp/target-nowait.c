// A target region that is not waited for, and a task that depends on it.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp target map(tofrom : x) nowait depend(out : x)
    x = 1;
#pragma omp task depend(inout : x)
    x++;
  }
  return x != 2;
}
