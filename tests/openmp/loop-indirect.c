// Elements are found by an index that names one of them twice, far apart.
// expect: race on data, lines 13 and 13
enum { N = 512 };
int data[N], where[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    where[i] = i;
  }
  where[N - 1] = 0;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    data[where[i]] += i;
  }
}
