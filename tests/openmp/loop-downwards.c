// A loop that counts down in steps of three, without conflicts.
// expect: no race
int data[900];

int main(void) {
#pragma omp parallel for
  for (int i = 899; i >= 0; i -= 3) {
    data[i] = i;
    data[i - 1] = i;
    data[i - 2] = i;
  }
  return data[0] != 2;
}
