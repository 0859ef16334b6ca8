// Iterations are handed out one by one; each needs the one before.
// expect: race on data, lines 8 and 8
int data[200];

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 1; i < 200; i++) {
    data[i] = data[i - 1] + 1;
  }
}
