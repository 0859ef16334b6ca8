// Two master blocks are run by the same thread.
// expect: no race
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    x = 1;
#pragma omp master
    x++;
  }
  return x != 2;
}
