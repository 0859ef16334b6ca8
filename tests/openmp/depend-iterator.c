// The last task names all elements by an iterator.
// expect: no race
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
#pragma omp task depend(iterator(int k = 0 : 20), in : part[k])
    for (int i = 0; i < 20; i++) {
      sum += part[i];
    }
  }
  return sum != 190;
}
