// Each thread has a copy of an array.
// expect: no race
int main(void) {
  int data[10] = {0}, wrong = 0;
#pragma omp parallel firstprivate(data) reduction(+ : wrong)
  {
    for (int i = 0; i < 10; i++) {
      data[i]++;
    }
    for (int i = 0; i < 10; i++) {
      wrong += data[i] != 1;
    }
  }
  return wrong || data[0];
}
