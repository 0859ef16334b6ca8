// The reader names the variable that the writer names.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
#pragma omp task depend(in : x)
    seen = x;
  }
  return seen != 1;
}
