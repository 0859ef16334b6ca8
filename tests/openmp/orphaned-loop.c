// A function with a divided loop is called by all threads.
// expect: no race
int data[100];

void fill(int value) {
#pragma omp for
  for (int i = 0; i < 100; i++) {
    data[i] += value;
  }
}

int main(void) {
#pragma omp parallel
  {
    fill(1);
    fill(2);
  }
  return data[50] != 3;
}
