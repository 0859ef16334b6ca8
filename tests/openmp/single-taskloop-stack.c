// A taskloop in a chunk sums into a local of the chunk.
// expect: no race
int all[16];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 16; i++) {
    int sum = 0;
#pragma omp taskloop reduction(+ : sum)
    for (int k = 0; k < 10; k++) sum += k;
    all[i] = sum;
  }
  return all[15] != 45;
}
