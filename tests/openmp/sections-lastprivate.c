// The variable has the value of the last section.
// expect: no race
int a;

int main(void) {
#pragma omp parallel sections lastprivate(a)
  {
#pragma omp section
    a = 1;
#pragma omp section
    a = 2;
  }
  return a != 2;
}
