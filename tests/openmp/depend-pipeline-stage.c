// Three stages; a stage may take two items at once, but has one total.
// expect: race on total, lines 15 and 15
// threads: 1 2 4 16
enum { ITEMS = 20 };
int item[ITEMS], total[3];

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < ITEMS; i++) {
    for (int s = 0; s < 3; s++) {
#pragma omp task depend(inout : item[i])
      {
        item[i] += s + 1;
        total[s] += item[i];
      }
    }
  }
}
