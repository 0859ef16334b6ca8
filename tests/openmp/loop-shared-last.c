// Every iteration writes the variable that only the last one should.
// expect: race on last, lines 8 and 8
int last;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    last = i;
  }
}
