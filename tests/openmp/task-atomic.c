// Tasks add to a counter by atomic updates; the creator waits before it reads.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 30; i++) {
#pragma omp task
      {
#pragma omp atomic
        x++;
      }
    }
#pragma omp taskwait
    seen = x;
  }
  return seen != 30;
}
