// Elements are found by an index that names each of them once.
// expect: no race
enum { N = 512 };
int data[N], where[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    where[i] = i * 5 % N;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    data[where[i]] += i;
  }
  return data[5] != 1;
}
