// The `loop` construct: iterations may run in any order.
// expect: no race
int data[100];

int main(void) {
#pragma omp parallel
  {
#pragma omp loop
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
  }
  return data[99] != 99;
}
