// The group of a taskloop waits for the tasks that its iterations create.
// expect: no race
// threads: 1 2 4 16
int data[50], seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 50; i++) {
#pragma omp task
      data[i] = i;
    }
    seen = data[49];
  }
  return seen != 49;
}
