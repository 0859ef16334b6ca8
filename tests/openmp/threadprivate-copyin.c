// All threads begin with the first one's value.
// expect: no race
int value, wrong;
#pragma omp threadprivate(value)

int main(void) {
  value = 9;
#pragma omp parallel copyin(value) reduction(+ : wrong)
  {
    wrong += value != 9;
    value++;
  }
  return wrong;
}
