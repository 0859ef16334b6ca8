// Tasks of two sections have dependences among their own siblings only: sections are not siblings.
// expect: race on x, lines 12 and 15
// threads: 2 4 16
int x;

int main(void) {
#pragma omp parallel sections
  {
#pragma omp section
    {
#pragma omp task depend(out : x)
      x = 1;
    }
#pragma omp section
    x = 2;
  }
}
