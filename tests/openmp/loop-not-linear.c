// The second counter is shared.
// expect: race on second, lines 8 and 8
int data[200], second;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    __atomic_store_n(&data[second++ & 127], i, __ATOMIC_RELAXED);
  }
}
