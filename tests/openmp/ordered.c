// Iterations add to a list in their order.
// expect: no race
int list[100], length;

int main(void) {
#pragma omp parallel for ordered
  for (int i = 0; i < 100; i++) {
#pragma omp ordered
    list[length++] = i;
  }
  return list[99] != 99;
}
