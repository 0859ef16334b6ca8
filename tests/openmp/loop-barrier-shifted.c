// Two static loops with the barrier of the first between them.
// expect: no race
int data[1000], copy[1000];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++) {
      data[i] = i;
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++) {
      copy[i] = data[999 - i];
    }
  }
  return copy[0] != 999;
}
