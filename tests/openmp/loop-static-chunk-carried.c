// Chunks of eight iterations are dealt out in turn; each iteration needs the eighth before it.
// expect: race on data, lines 8 and 8
int data[512];

int main(void) {
#pragma omp parallel for schedule(static, 8)
  for (int i = 8; i < 512; i++) {
    data[i] = data[i - 8] + 1;
  }
}
