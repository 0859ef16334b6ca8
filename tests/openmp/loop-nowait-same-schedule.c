// Two loops with the same static schedule and bounds: a thread has the same iterations of both.
// expect: no race
int data[1000];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 1000; i++) {
      data[i] = i;
    }
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 1000; i++) {
      data[i] *= 2;
    }
  }
  return data[999] != 1998;
}
