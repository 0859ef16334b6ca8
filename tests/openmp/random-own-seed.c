// A generator of random numbers with a seed for each thread.
// expect: no race
int data[100];

int draw(unsigned *seed) {
  return (*seed = *seed * 1103515245 + 12345) >> 16;
}

int main(void) {
#pragma omp parallel
  {
    unsigned seed = 1;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      data[i] = draw(&seed);
    }
  }
  return data[0] < 0;
}
