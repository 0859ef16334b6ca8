// Chunks count in a critical section, a task beside them in another of the same name.
// expect: no race
int count;

int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
#pragma omp task
#pragma omp critical(counting)
    count++;
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < 31; i++)
#pragma omp critical(counting)
      count++;
  }
  return count != 32;
}
