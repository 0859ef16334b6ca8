// A private variable of each task.
// expect: no race
// threads: 1 2 4 16
int scratch, total[20];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task private(scratch)
    {
      scratch = i * i;
      total[i] = scratch;
    }
  }
  return total[19] != 361;
}
