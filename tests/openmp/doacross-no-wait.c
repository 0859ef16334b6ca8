// The iterations say when they are done, but nobody waits.
// expect: race on data, lines 8 and 8
int data[200];

int main(void) {
#pragma omp parallel for ordered(1) schedule(dynamic)
  for (int i = 1; i < 200; i++) {
    data[i] = data[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}
