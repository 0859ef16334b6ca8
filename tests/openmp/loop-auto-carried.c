// The runtime chooses the schedule; each iteration needs the second before it.
// expect: race on data, lines 8 and 8
int data[1000];

int main(void) {
#pragma omp parallel for schedule(auto)
  for (int i = 2; i < 1000; i++) {
    data[i] = data[i - 2] + 1;
  }
}
