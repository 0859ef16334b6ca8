// Each task has a copy of the loop variable.
// expect: no race
// threads: 1 2 4 16
int i, seen[10];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
      seen[i] = i;
    }
  }
  return seen[9] != 9;
}
