// All threads count in a critical section.
// expect: no race
int x;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
#pragma omp critical
    x++;
  }
  return x != 100;
}
