// Each prefix sum is made from the one before.
// expect: race on sum, lines 9 and 9
// options: -O0
int sum[300], data[300];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 300; i++) {
    sum[i] = sum[i - 1] + data[i];
  }
}
