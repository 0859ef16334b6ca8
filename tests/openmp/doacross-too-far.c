// Each iteration waits for the second before it, but needs the one before.
// expect: race on data, lines 9 and 9
int data[200];

int main(void) {
#pragma omp parallel for ordered(1) schedule(dynamic)
  for (int i = 1; i < 200; i++) {
#pragma omp ordered depend(sink : i - 2)
    data[i] = data[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}
