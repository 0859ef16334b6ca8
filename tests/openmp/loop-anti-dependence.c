// Each iteration reads the element that the next one writes.
// expect: race on data, lines 8 and 8
int data[1001];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
    data[i] = data[i + 1] + 1;
  }
}
