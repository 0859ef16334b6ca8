// A mergeable task that is undeferred may be part of its creator.
// expect: no race
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    x = 1;
#pragma omp task mergeable if (0)
    x++;
    x++;
  }
  return x != 3;
}
