// The iterations of a taskloop add to one sum.
// expect: race on sum, lines 12 and 12
// threads: 1 2 4 16
int sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 1000; i++) {
      sum += i;
    }
  }
}
