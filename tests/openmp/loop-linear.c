// The second counter is linear in the first.
// expect: no race
int data[200];

int main(void) {
  int second = 0;
#pragma omp parallel for linear(second : 2)
  for (int i = 0; i < 100; i++) {
    data[second] = i;
    second += 2;
  }
  return data[198] != 99;
}
