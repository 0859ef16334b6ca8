// The loop is ordered, but the iterations have no ordered block.
// expect: race on length, lines 8 and 8
int list[128], length;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 100; i++) {
    __atomic_store_n(&list[length++ & 127], i, __ATOMIC_RELAXED);
  }
}
