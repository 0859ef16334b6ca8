// Prefix sums by a scan.
// expect: no race
int sum[300], data[300];

int main(void) {
  int total = 0;
  for (int i = 0; i < 300; i++) {
    data[i] = 1;
  }
#pragma omp parallel for reduction(inscan, + : total)
  for (int i = 0; i < 300; i++) {
    total += data[i];
#pragma omp scan inclusive(total)
    sum[i] = total;
  }
  return sum[299] != 300;
}
