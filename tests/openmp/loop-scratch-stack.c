// Each thread has a buffer on its stack, and uses it for all iterations that it gets.
// expect: no race
int data[200];

int main(void) {
#pragma omp parallel
  {
    int scratch[10];
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 200; i++) {
      for (int k = 0; k < 10; k++) {
        scratch[k] = i;
      }
      data[i] = scratch[i % 10];
    }
  }
  return data[199] != 199;
}
