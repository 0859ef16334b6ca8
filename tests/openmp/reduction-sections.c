// A reduction of sections.
// expect: no race
int sum;

int main(void) {
#pragma omp parallel sections reduction(+ : sum)
  {
#pragma omp section
    sum += 1;
#pragma omp section
    sum += 2;
#pragma omp section
    sum += 3;
  }
  return sum != 6;
}
