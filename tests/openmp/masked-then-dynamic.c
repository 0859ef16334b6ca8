// The first thread prepares, all wait, chunks read.
// expect: no race
int table[8], copy[64];

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    for (int i = 0; i < 8; i++) table[i] = i;
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 64; i++) copy[i] = table[i % 8];
  }
  return copy[63] != 7;
}
