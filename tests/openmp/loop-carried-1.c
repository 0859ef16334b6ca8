// Each iteration needs the one before: the first of a thread needs the last of its neighbour.
// expect: race on data, lines 9 and 9
// options: -O0
int data[1000];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 1000; i++) {
    data[i] = data[i - 1] + 1;
  }
}
