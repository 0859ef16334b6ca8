// A target region runs on the host where there is no device.
// expect: no race
int data[100];

int main(void) {
#pragma omp target map(tofrom : data)
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    data[i] = i;
  }
  return data[99] != 99;
}
