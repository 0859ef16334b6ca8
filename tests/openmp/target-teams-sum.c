// A sum on a device, without a reduction.
// expect: race on s, lines 7 and 7
int a[500], s;
int main(void) {
#pragma omp target teams distribute parallel for map(tofrom : a, s)
  for (int i = 0; i < 500; i++)
    s += a[i] + 1;
  return 0;
}
