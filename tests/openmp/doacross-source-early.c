// An iteration says that it is done before it has written.
// expect: race on data, lines 9 and 11
int data[200], copy[200];

int main(void) {
#pragma omp parallel for ordered(1) schedule(dynamic)
  for (int i = 1; i < 200; i++) {
#pragma omp ordered depend(source)
    data[i] = i;
#pragma omp ordered depend(sink : i - 1)
    copy[i] = data[i - 1];
  }
}
