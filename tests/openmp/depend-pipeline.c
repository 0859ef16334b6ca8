// Three stages; a stage takes an item after the stage before has, and one item after the other.
// expect: no race
// threads: 1 2 4 16
enum { ITEMS = 20 };
int item[ITEMS], total[3], stage[3];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < ITEMS; i++) {
    for (int s = 0; s < 3; s++) {
#pragma omp task depend(inout : item[i]) depend(inout : stage[s])
      {
        item[i] += s + 1;
        total[s] += item[i];
      }
    }
  }
  return total[2] != 6 * ITEMS;
}
