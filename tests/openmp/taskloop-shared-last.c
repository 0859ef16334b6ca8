// Every iteration of a taskloop writes the variable that the last one should.
// expect: race on last, lines 12 and 12
// threads: 1 2 4 16
int last;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 100; i++) {
      last = i * 2;
    }
  }
}
