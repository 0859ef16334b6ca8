// Chunks read; after the barrier at the end of the loop, others write.
// expect: no race
int table[64], copy[64];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 64; i++) copy[i] = table[0] + table[(i * 7) % 64];
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 64; i++) table[i] = copy[63 - i];
  }
}
