// Tasks of an inoutset may run at the same time, and these write the same variable.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(inoutset : x)
    x = 1;
#pragma omp task depend(inoutset : x)
    x = 2;
  }
}
