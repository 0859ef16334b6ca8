// A taskloop with tasks of at least ten iterations; each touches its own elements.
// expect: no race
// threads: 1 2 4 16
int data[200], copy[200];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(10)
    for (int i = 0; i < 200; i++) {
      data[i] = i;
    }
#pragma omp taskloop num_tasks(7)
    for (int i = 0; i < 200; i++) {
      copy[199 - i] = data[i];
    }
  }
  return copy[0] != 199;
}
