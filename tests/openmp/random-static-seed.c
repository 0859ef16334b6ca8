// A generator of random numbers with one seed for all.
// expect: race on seed, lines 7 and 7
unsigned seed = 1;
int data[100];

int draw(void) {
  return (seed = seed * 1103515245 + 12345) >> 16;
}

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    data[i] = draw();
  }
}
