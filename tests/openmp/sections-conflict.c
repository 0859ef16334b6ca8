// Two sections write the same variable, also if one thread runs both.
// expect: race on a, lines 9 and 11
int a;

int main(void) {
#pragma omp parallel sections
  {
#pragma omp section
    a = 1;
#pragma omp section
    a = 2;
  }
}
