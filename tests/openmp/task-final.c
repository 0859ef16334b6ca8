// The tasks of a final task are included: they run one after the other.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(1)
    {
#pragma omp task
      x++;
#pragma omp task
      {
#pragma omp task
        x++;
      }
      x++;
    }
  }
  return x != 3;
}
