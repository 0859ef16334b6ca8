// The static variable of a function is threadprivate.
// expect: no race
int next(void) {
  static int count;
#pragma omp threadprivate(count)
  return ++count;
}

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int first = next();
    wrong += next() != first + 1;
  }
  return wrong;
}
