// A target region that is not waited for; the host goes on with its variable.
// expect: race on x, lines 11 and 12
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp target map(tofrom : x) nowait
    x = 1;
    x = 2;
  }
}
