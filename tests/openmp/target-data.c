// Data stays on the device from one region to the next.
// expect: no race
int a[500];
int main(void) {
#pragma omp target data map(tofrom : a)
  {
#pragma omp target parallel for
    for (int i = 0; i < 500; i++) a[i] = i;
#pragma omp target update from(a)
    a[0] = a[1];
  }
  return a[0] != 1;
}
