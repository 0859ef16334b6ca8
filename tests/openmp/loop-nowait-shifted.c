// Two static loops without a barrier between them: the second one reads its neighbour's elements.
// expect: race on data, lines 10 and 14
int data[1000], copy[1000];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 1000; i++) {
      data[i] = i;
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++) {
      copy[i] = data[999 - i];
    }
  }
}
