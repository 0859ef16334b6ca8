// Blocks of single, one after the other without barrier, share locals with tasks that they wait for.
// expect: no race
int sum;

int main(void) {
#pragma omp parallel
  for (int i = 0; i < 20; i++) {
#pragma omp single nowait
    {
      int x;
#pragma omp task shared(x)
      x = i;
#pragma omp taskwait
#pragma omp atomic
      sum += x;
    }
  }
  return sum != 190;
}
