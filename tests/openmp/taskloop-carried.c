// Each iteration of a taskloop needs the one before.
// expect: race on data, lines 13 and 13
// options: -O0
// threads: 1 2 4 16
int data[1000];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 1; i < 1000; i++) {
      data[i] = data[i - 1] + 1;
    }
  }
}
