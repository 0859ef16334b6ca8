// Iterations at both ends of the loop write the same element.
// expect: race on data, lines 9 and 9
enum { N = 1000 };
int data[N / 2];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    data[i % (N / 2)] = i;
  }
}
