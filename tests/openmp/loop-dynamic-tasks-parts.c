// Each chunk has a row of its own, and reads it while its tasks fill it.
// expect: race on parts, lines 11 and 12
// options: -O0
int parts[32][8], sums[32];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
    for (int k = 0; k < 8; k++)
#pragma omp task
      parts[i][k] = i * k;
    for (int k = 0; k < 8; k++) sums[i] += parts[i][k];
  }
}
