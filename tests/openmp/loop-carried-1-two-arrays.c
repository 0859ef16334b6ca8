// Each iteration reads its neighbour in another array.
// expect: no race
int data[1000], old[1000];

int main(void) {
#pragma omp parallel for
  for (int i = 1; i < 1000; i++) {
    data[i] = old[i - 1] + 1;
  }
  return data[999] != 1;
}
