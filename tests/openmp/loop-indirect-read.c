// Iterations read by an index what others write.
// expect: race on data, lines 12 and 12
enum { N = 512 };
int data[N], where[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    where[i] = N - 1 - i;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    data[i] = data[where[i]] + 1;
  }
}
