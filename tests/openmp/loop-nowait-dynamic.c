// Two dynamic loops without a barrier between them: an iteration of the second may run before the same of the first.
// expect: race on data, lines 10 and 14
int data[100];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      data[i] *= 2;
    }
  }
}
