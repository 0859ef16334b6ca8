// Tasks read a loop variable that is shared while the loop goes on.
// expect: race on i, lines 10 and 12
// threads: 1 2 4 16
int i, seen[10];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (i = 0; i < 9; i++) {
#pragma omp task
      __atomic_store_n(&seen[i], 1, __ATOMIC_RELAXED);
    }
  }
}
