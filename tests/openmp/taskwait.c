// The creator waits for its task before it reads what that writes.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    x = 1;
#pragma omp taskwait
    seen = x;
  }
  return seen != 1;
}
