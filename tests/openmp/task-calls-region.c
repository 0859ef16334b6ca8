// Tasks meet regions of their own, with dynamic loops and locals.
// expect: no race
// environment: OMP_MAX_ACTIVE_LEVELS=3
int out[6][8];

static void row(int i) {
  int scale = i + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int k = 0; k < 8; k++) {
    int twice = 0;
#pragma omp task shared(twice)
    twice = 2 * scale;
#pragma omp taskwait
    out[i][k] = twice + k;
  }
}

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 6; i++)
#pragma omp task
    row(i);
  return out[5][7] != 19;
}
