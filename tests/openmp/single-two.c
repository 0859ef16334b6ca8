// Two single blocks with a barrier between them.
// expect: no race
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    x = 1;
#pragma omp single nowait
    x++;
  }
  return x != 2;
}
