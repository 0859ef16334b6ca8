// A taskloop without a group is not waited for.
// expect: race on data, lines 12 and 14
// threads: 1 2 4 16
int data[100], seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
    seen = data[99];
  }
}
