// A dynamic loop is cancelled once found; what was found is kept under a lock.
// expect: no race
// environment: OMP_CANCELLATION=true
int found = -1, data[256];
int main(void) {
  data[77] = 1;
#pragma omp parallel
#pragma omp for schedule(dynamic, 4)
  for (int i = 0; i < 256; i++) {
    if (data[i]) {
#pragma omp critical
      found = i;
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
  return found != 77;
}
