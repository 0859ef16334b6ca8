// Each iteration waits for the one before it.
// expect: no race
int data[200];

int main(void) {
#pragma omp parallel for ordered(1)
  for (int i = 1; i < 200; i++) {
#pragma omp ordered depend(sink : i - 1)
    data[i] = data[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  return data[199] != 199;
}
