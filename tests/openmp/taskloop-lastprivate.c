// The variable has the value of the last iteration after the taskloop.
// expect: no race
// threads: 1 2 4 16
int last;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop lastprivate(last)
    for (int i = 0; i < 100; i++) {
      last = i * 2;
    }
    last++;
  }
  return last != 199;
}
