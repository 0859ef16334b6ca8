// Two tasks write a variable, and both say so: the second comes after the first.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task depend(out : x)
    x = 2;
  }
  return x != 2;
}
