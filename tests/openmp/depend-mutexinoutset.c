// Tasks of a mutexinoutset exclude each other, in any order.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(mutexinoutset : x)
      x += i;
    }
#pragma omp taskwait
  }
  return x != 190;
}
