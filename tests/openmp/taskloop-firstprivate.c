// Each task of a taskloop has a copy of the variable.
// expect: no race
// threads: 1 2 4 16
int start = 5, data[100];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop firstprivate(start)
    for (int i = 0; i < 100; i++) {
      start += 1;
      data[i] = start;
    }
  }
  return start != 5 || data[0] != 6;
}
