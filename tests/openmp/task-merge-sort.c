// Merge sort by tasks: the halves are sorted before they are merged.
// expect: no race
// threads: 1 2 4 16
enum { N = 256 };
int data[N], spare[N];

void sort(int from, int to) {
  if (to - from < 2) {
    return;
  }
  int middle = (from + to) / 2;
#pragma omp task
  sort(from, middle);
#pragma omp task
  sort(middle, to);
#pragma omp taskwait
  for (int i = from, a = from, b = middle; i < to; i++) {
    spare[i] = b == to || (a < middle && data[a] < data[b]) ? data[a++] : data[b++];
  }
  for (int i = from; i < to; i++) {
    data[i] = spare[i];
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    data[i] = i * 7919 % N;
  }
#pragma omp parallel
#pragma omp single
  sort(0, N);
  return data[0] != 0 || data[N - 1] != N - 1;
}
