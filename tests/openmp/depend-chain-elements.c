// A chain of tasks by neighbouring elements, without a gap.
// expect: no race
// threads: 1 2 4 16
int x, link[101];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++) {
#pragma omp task depend(in : link[i]) depend(out : link[i + 1])
    x += i;
  }
  return x != 4950;
}
