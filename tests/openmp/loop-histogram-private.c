// Each thread counts in its own bins, and adds them to the shared ones in a critical section.
// expect: no race
int bin[8];

int main(void) {
#pragma omp parallel
  {
    int mine[8] = {0};
#pragma omp for schedule(dynamic, 50) nowait
    for (int i = 0; i < 1000; i++) {
      mine[i * 7 % 8]++;
    }
#pragma omp critical
    for (int i = 0; i < 8; i++) {
      bin[i] += mine[i];
    }
  }
  return bin[0] != 125;
}
