// The end of a parallel region waits for all tasks.
// expect: no race
// threads: 1 2 4 16
int x[16];

void spread(int from, int count) {
  if (count == 1) {
    x[from]++;
    return;
  }
#pragma omp task
  spread(from, count / 2);
#pragma omp task
  spread(from + count / 2, count / 2);
}

int main(void) {
#pragma omp parallel
#pragma omp single nowait
  spread(0, 16);
  int sum = 0;
  for (int i = 0; i < 16; i++) {
    sum += x[i];
  }
  return sum != 16;
}
