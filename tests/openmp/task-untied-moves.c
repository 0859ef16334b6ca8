// Untied tasks wait, yield and may go on on another thread.
// expect: no race
int r[64];
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 64; i++) {
#pragma omp task untied firstprivate(i)
    {
      int local = i;
#pragma omp task shared(local)
      local++;
#pragma omp taskwait
      local++;
#pragma omp taskyield
      r[i] = local;
    }
  }
  return r[5] != 7;
}
