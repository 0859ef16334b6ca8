// A maximum by an atomic comparison.
// expect: no race
// options: -fopenmp-version=51
int largest;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 300; i++) {
#pragma omp atomic compare
    if (largest < i) {
      largest = i;
    }
  }
  return largest != 299;
}
