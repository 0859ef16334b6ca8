// Chunks of eight iterations; only iterations of one chunk touch the same element.
// expect: no race
int data[64];

int main(void) {
#pragma omp parallel for schedule(static, 8)
  for (int i = 0; i < 512; i++) {
    data[i / 8]++;
  }
  return data[63] != 8;
}
