// Merge by a task that does not wait for those that fill the halves.
// expect: race on data, lines 14 and 22
// expect: race on data, lines 18 and 22
// threads: 1 2 4 16
enum { N = 64 };
int data[N], spare[N];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    for (int i = 0; i < N / 2; i++) {
      data[i] = i;
    }
#pragma omp task
    for (int i = N / 2; i < N; i++) {
      data[i] = -i;
    }
#pragma omp task
    for (int i = 0; i < N; i++) {
      spare[i] = data[N - 1 - i];
    }
  }
}
