// Iterations count in shared bins by atomic updates.
// expect: no race
int bin[8];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp atomic
    bin[i * 7 % 8]++;
  }
  return bin[0] != 125;
}
