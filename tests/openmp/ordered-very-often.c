// Forty thousand ordered blocks, each just after the one before: the runtime says that one has ended when the next one
// may have begun.
// expect: no race
int last, sum;

int main(void) {
  for (int round = 0; round < 200; round++) {
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int i = 0; i < 200; i++) {
#pragma omp ordered
      {
        last = i;
        sum += last & 1;
      }
    }
  }
  return sum != 200 * 100;
}
