// A loop with a counter of 64 bits, and a dynamic one with an unsigned counter.
// expect: no race
long data[300];

int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (long i = 5000000000; i < 5000000300; i++) {
      data[i - 5000000000] = i;
    }
#pragma omp for schedule(dynamic, 7)
    for (unsigned long i = 0; i < 300; i++) {
      data[i] -= 5000000000;
    }
  }
  return data[299] != 299;
}
