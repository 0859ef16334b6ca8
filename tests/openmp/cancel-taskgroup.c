// A group of tasks is cancelled; what its tasks wrote is read after the group.
// expect: no race
// threads: 1 2 4 16
// environment: OMP_CANCELLATION=true
int found, part[20], after;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 20; i++) {
#pragma omp task
      {
        part[i] = i;
        if (i == 10) {
#pragma omp atomic write
          found = 1;
#pragma omp cancel taskgroup
        }
      }
    }
    after = part[10] + found;
  }
  return after < 0;
}
