// A task waits for what runs on the device.
// expect: no race
int a[50];
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait depend(out : a[0]) map(tofrom : a)
    for (int i = 0; i < 50; i++) a[i] = i;
#pragma omp task depend(in : a[0])
    a[1] = a[2];
#pragma omp taskwait
  }
  return a[1] != 2;
}
