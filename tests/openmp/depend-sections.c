// Tasks name parts of an array that begin at the same element.
// expect: no race
// threads: 1 2 4 16
int data[100];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int round = 0; round < 3; round++) {
      for (int from = 0; from < 100; from += 25) {
#pragma omp task depend(inout : data[from : 25])
        for (int i = from; i < from + 25; i++) {
          data[i] += round;
        }
      }
    }
  }
  return data[99] != 3;
}
