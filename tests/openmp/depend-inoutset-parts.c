// Tasks of an inoutset fill different elements; the readers after them wait for all.
// expect: no race
// threads: 1 2 4 16
int part[16], sum, count;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 16; i++) {
#pragma omp task depend(inoutset : part) firstprivate(i)
      part[i] = i;
    }
#pragma omp task depend(in : part)
    for (int i = 0; i < 16; i++) {
      sum += part[i];
    }
#pragma omp task depend(in : part)
    for (int i = 0; i < 16; i++) {
      count += part[i] != 0;
    }
  }
  return sum != 120 || count != 15;
}
