// Odd elements are computed from even ones.
// expect: no race
int data[1000];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 999; i += 2) {
    data[i] = data[i - 1] + data[i + 1] + 1;
  }
  return data[1] != 1;
}
