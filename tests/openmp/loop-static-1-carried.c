// Iterations are dealt out in turn; each needs the one before, which another thread has.
// expect: race on data, lines 9 and 9
// options: -O0
int data[500];

int main(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 1; i < 500; i++) {
    data[i] = data[i - 1] + 1;
  }
}
