// Each thread has a copy of the start value, and changes it.
// expect: no race
int value = 7, data[100];

int main(void) {
#pragma omp parallel for firstprivate(value)
  for (int i = 0; i < 100; i++) {
    value++;
    data[i] = value;
  }
  return value != 7 || data[0] != 8;
}
