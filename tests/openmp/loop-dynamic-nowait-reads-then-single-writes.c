// Chunks read without a barrier after the loop; a single block writes.
// expect: race on table, lines 10 and 12
// options: -O0
int table[64], copy[64];

int main(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < 64; i++) copy[i] = table[i % 4];
#pragma omp single
    table[0] = 1;
  }
}
