// Many readers, then a writer: it waits for all of them.
// expect: no race
// threads: 1 2 4 16
int x, seen[50];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 50; i++) {
#pragma omp task depend(in : x) firstprivate(i)
      seen[i] = x;
    }
#pragma omp task depend(out : x)
    x = 1;
  }
  return x != 1;
}
