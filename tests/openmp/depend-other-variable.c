// Each task names a variable in its dependence, but not the one that both write.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x, y, z;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : y)
    x = 1;
#pragma omp task depend(out : z)
    x = 2;
  }
}
