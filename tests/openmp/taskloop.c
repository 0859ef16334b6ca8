// A taskloop whose iterations touch different elements, and waits for them.
// expect: no race
// threads: 1 2 4 16
int data[1000];

int main(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 1000; i++) {
      data[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
      sum += data[i];
    }
  }
  return sum != 499500;
}
