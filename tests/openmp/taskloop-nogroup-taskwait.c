// A taskwait waits for the tasks of a taskloop without a group: they are children.
// expect: no race
// threads: 1 2 4 16
int data[100], seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
#pragma omp taskwait
    seen = data[99];
  }
  return seen != 99;
}
