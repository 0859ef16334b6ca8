// Two tasks say that they read a variable, and write it.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(in : x)
    x = 1;
#pragma omp task depend(in : x)
    x = 2;
  }
}
