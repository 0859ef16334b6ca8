// Two taskloops without a group run at the same time.
// expect: race on data, lines 12 and 16
// threads: 1 2 4 16
int data[100];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup
    for (int i = 0; i < 100; i++) {
      data[i] = i;
    }
#pragma omp taskloop nogroup
    for (int i = 0; i < 100; i++) {
      data[i] += 1;
    }
  }
}
