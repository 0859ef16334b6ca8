// A chain of two hundred tasks, each after the one before.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200; i++) {
#pragma omp task depend(inout : x)
    x += i;
  }
  return x != 19900;
}
