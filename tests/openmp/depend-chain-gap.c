// A chain of tasks by neighbouring elements; the link in the middle names the wrong one.
// expect: race on x, lines 12 and 12
// threads: 1 2 4 16
int x, link[101];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++) {
    int from = i == 50 ? 100 : i;
#pragma omp task depend(in : link[from]) depend(out : link[i + 1])
    x += i;
  }
}
