// An inoutset is ordered with the readers before it, too.
// expect: no race
// threads: 1 2 4 16
int x[2], seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(in : x)
    seen = x[0] + x[1];
#pragma omp task depend(inoutset : x)
    x[0] = 1;
#pragma omp task depend(inoutset : x)
    x[1] = 1;
#pragma omp task depend(inout : x)
    x[0] += x[1];
  }
  return x[0] != 2 || seen;
}
