// Each iteration reads the element that the next one writes from a copy that was made before.
// expect: no race
int data[1001], copy[1001];

int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1001; i++) {
      copy[i] = data[i];
    }
#pragma omp for
    for (int i = 0; i < 1000; i++) {
      data[i] = copy[i + 1] + 1;
    }
  }
  return data[0] != 1;
}
