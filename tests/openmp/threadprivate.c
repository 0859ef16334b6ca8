// Each thread has its own counter, which it keeps from region to region.
// expect: no race
int count, total;
#pragma omp threadprivate(count)

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    count++;
  }
#pragma omp parallel
  {
#pragma omp atomic
    total += count;
  }
  return total != 100;
}
