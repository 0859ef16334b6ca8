// Tasks name parts of an array that overlap but begin at different elements: that orders nothing.
// expect: race on data, lines 12 and 16
// threads: 1 2 4 16
int data[100];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(inout : data[0 : 60])
    for (int i = 0; i < 60; i++) {
      data[i] = 1;
    }
#pragma omp task depend(inout : data[40 : 60])
    for (int i = 40; i < 100; i++) {
      data[i] = 2;
    }
  }
}
