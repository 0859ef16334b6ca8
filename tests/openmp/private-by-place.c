// A variable that is declared inside the region is private.
// expect: no race
int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int local = 0;
    int *escaped = &local;
    for (int i = 0; i < 10; i++) {
      ++*escaped;
    }
    wrong += local != 10;
  }
  return wrong;
}
