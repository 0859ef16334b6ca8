// A loop on a device, which is the host, and a sum.
// expect: no race
int a[500], s;
int main(void) {
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < 500; i++) a[i] = i;
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : s) reduction(+ : s)
  for (int i = 0; i < 500; i++) s += a[i];
  return s != 124750;
}
