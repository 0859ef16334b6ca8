// Atomic updates of one variable.
// expect: no race
int x;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    x += i;
  }
  return x != 4950;
}
