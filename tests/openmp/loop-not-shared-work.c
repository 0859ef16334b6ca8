// There is no `for`: every thread runs the whole loop.
// expect: race on data, lines 9 and 9
int data[100];

int main(void) {
#pragma omp parallel
  {
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
  }
}
