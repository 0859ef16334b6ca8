// The doacross clause of OpenMP 5.2 in place of depend.
// expect: no race
// options: -fopenmp-version=52
int data[100];

int main(void) {
#pragma omp parallel for ordered(1) schedule(static, 4)
  for (int i = 3; i < 100; i++) {
#pragma omp ordered doacross(sink : i - 3)
    data[i] = data[i - 3] + 1;
#pragma omp ordered doacross(source : omp_cur_iteration)
  }
  return data[99] != 33;
}
