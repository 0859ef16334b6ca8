// The sweep works in one array: iterations read what others write.
// expect: race on data, lines 9 and 9
// options: -O0
double data[200];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 199; i++) {
    data[i] = (data[i - 1] + data[i + 1]) / 2;
  }
}
