// A single block meets a region whose threads share a local of the block.
// expect: no race
// environment: OMP_MAX_ACTIVE_LEVELS=2
int all;

int main(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 5; i++) {
#pragma omp single
    {
      int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
      for (int k = 0; k < 8; k++) sum += k;
      all += sum;
    }
  }
  return all != 140;
}
