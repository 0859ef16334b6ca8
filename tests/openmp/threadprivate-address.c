// The address of one thread's own variable is given to all.
// expect: race on *, lines 11 and 11
int value, *everybodys;
#pragma omp threadprivate(value)

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    everybodys = &value;
    ++*everybodys;
  }
}
