// Each chunk creates tasks and waits for them; their results are its own.
// expect: no race
int part[64], all[64];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    int left = 0, right = 0;
#pragma omp task shared(left)
    left = i;
#pragma omp task shared(right)
    right = 2 * i;
#pragma omp taskwait
    all[i] = left + right;
    part[i] = all[i];
  }
  return part[63] != 189;
}
