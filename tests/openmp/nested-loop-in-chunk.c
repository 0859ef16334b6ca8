// A chunk meets a region of its own, with a dynamic loop in it.
// expect: no race
// environment: OMP_MAX_ACTIVE_LEVELS=2
int a[8][8];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int i = 0; i < 8; i++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int j = 0; j < 8; j++) a[i][j] = i + j;
    a[i][0] += a[i][7];
  }
  return a[7][0] != 21;
}
