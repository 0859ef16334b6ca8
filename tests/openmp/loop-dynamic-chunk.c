// Chunks of five iterations; each iteration needs the fifth before it.
// expect: race on data, lines 8 and 8
int data[200];

int main(void) {
#pragma omp parallel for schedule(dynamic, 5)
  for (int i = 5; i < 200; i++) {
    data[i] = data[i - 5] + 1;
  }
}
