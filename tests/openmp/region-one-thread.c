// A region of one thread counts without protection.
// expect: no race
int x;

int main(void) {
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 10; i++) {
    x++;
  }
  return x != 10;
}
