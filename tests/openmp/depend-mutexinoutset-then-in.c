// Between an out and an in, tasks of a mutexinoutset collect a sum.
// expect: no race
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
    for (int i = 0; i < 8; i++) {
#pragma omp task depend(mutexinoutset : x)
      x += i;
    }
#pragma omp task depend(in : x)
    seen = x;
  }
  return seen != 29;
}
