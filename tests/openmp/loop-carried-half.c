// Each iteration reads the element half the array away, which another thread writes.
// expect: race on data, lines 9 and 9
enum { N = 1024 };
int data[N];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    data[i] = data[(i + N / 2) % N] + 1;
  }
}
