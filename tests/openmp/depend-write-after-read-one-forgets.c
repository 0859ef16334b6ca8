// Many readers, then a writer; one of the readers names nothing.
// expect: race on x, lines 15 and 17
// threads: 1 2 4 16
int x, seen[50];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 49; i++) {
#pragma omp task depend(in : x) firstprivate(i)
      seen[i] = x;
    }
#pragma omp task
    seen[49] = x;
#pragma omp task depend(out : x)
    x = 1;
  }
}
