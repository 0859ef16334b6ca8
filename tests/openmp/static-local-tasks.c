// Two tasks call a function with a static variable.
// expect: race on *, lines 8 and 8
// threads: 1 2 4 16
int data[2];

int next(void) {
  static int count;
  return ++count;
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    data[0] = next();
#pragma omp task
    data[1] = next();
  }
}
