// The scratch variable is shared by all tasks.
// expect: race on scratch, lines 11 and 11
// threads: 1 2 4 16
int scratch, total[20];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task
    total[i] = (scratch = i * i) + __atomic_load_n(&scratch, __ATOMIC_RELAXED);
  }
}
