// Each iteration on the device needs the next one.
// expect: race on a, lines 7 and 7
int a[501];
int main(void) {
#pragma omp target parallel for map(tofrom : a)
  for (int i = 0; i < 500; i++)
    a[i] = a[i + 1] + 1;
  return 0;
}
