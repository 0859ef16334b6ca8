// A loop with fewer iterations than threads, and one with none.
// expect: no race
int data[2], none;

int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 2; i++) {
      data[i] += i;
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < none; i++) {
      data[0]++;
    }
  }
  return data[1] != 1;
}
