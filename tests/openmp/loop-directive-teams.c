// A loop that says nothing but that its iterations are independent.
// expect: no race
int a[300];
int main(void) {
#pragma omp teams loop
  for (int i = 0; i < 300; i++) a[i] = i;
#pragma omp parallel loop
  for (int i = 0; i < 300; i++) a[i]++;
  return a[7] != 8;
}
