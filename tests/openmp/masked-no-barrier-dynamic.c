// Without the barrier chunks may run before the first thread has prepared.
// expect: race on table, lines 10 and 12
// options: -O0
int table[8], copy[64];

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    for (int i = 0; i < 8; i++) table[i] = i;
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 64; i++) copy[i] = table[i % 8];
  }
}
