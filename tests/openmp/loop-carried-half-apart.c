// The upper half is computed from the lower one.
// expect: no race
enum { N = 1024 };
int data[N];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N / 2; i++) {
    data[i + N / 2] = data[i] + 1;
  }
  return data[N - 1] != 1;
}
