// A child names the variable that its parent's sibling names: they are not siblings.
// expect: race on x, lines 11 and 15
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(inout : x)
    x = 1;
#pragma omp task
    {
#pragma omp task depend(inout : x)
      x = 2;
    }
  }
}
