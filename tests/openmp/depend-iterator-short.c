// The iterator ends one element too early.
// expect: race on part, lines 12 and 16
// threads: 1 2 4 16
int part[20], sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(out : part[i]) firstprivate(i)
      part[i] = i;
    }
#pragma omp task depend(iterator(int k = 0 : 19), in : part[k])
    for (int i = 0; i < 20; i++) {
      sum += part[i];
    }
  }
}
